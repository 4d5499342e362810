#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuzz/check_message.h"
#include "fuzz/mutate.h"
#include "models/formats/quantized_parts.h"

/// Changes header and data separately and corrects the header's size in the first 8 bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::string file(reinterpret_cast<const char*>(data), size);
  std::uint64_t header_bytes = 0;
  if (size >= sizeof header_bytes) std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  if (seed % 8 == 0 || size < sizeof header_bytes || header_bytes > size - sizeof header_bytes ||
      max_size <= size) {
    fuselage::mutate(file, max_size);
    return fuselage::hand_over(file, data, max_size);
  }
  std::string header = file.substr(sizeof header_bytes, header_bytes);
  std::string rest = file.substr(sizeof header_bytes + header_bytes);
  std::string& changed = seed % 8 < 6 ? header : rest;
  fuselage::mutate(changed, changed.size() + max_size - size);
  header_bytes = header.size();
  std::memcpy(file.data(), &header_bytes, sizeof header_bytes);
  file.resize(sizeof header_bytes);
  return fuselage::hand_over(file + header + rest, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto file = fuselage::read_safetensors_file(bytes, "fuzz.safetensors");
    for (const auto& [name, tensor] : file.tensors)
      if (!fuselage::is_quantized(tensor.dtype())) tensor.to_f32();
    // Nibbles are joined as vectors of even length, and of odd length depending on the name.
    fuselage::VectorLengths nibbles;
    for (const auto& [name, tensor] : file.tensors)
      if (!tensor.shape().empty() && tensor.shape().back() > 0 && tensor.shape().back() < 1 << 20)
        nibbles[name] = 2 * tensor.shape().back() - static_cast<std::int64_t>(name.size() % 2);
    fuselage::join_quantized_weights(file.tensors, nibbles, "fuzz.safetensors");
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
