#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
    // Bytes are joined as numbers of each width, whose count depends on the name; what was joined
    // is the same after it is split and joined again.
    for (const int bits : {4, 3, 2, 1}) {
      fuselage::PackedWeights packed;
      for (const auto& [name, tensor] : file.tensors)
        if (!tensor.shape().empty() && tensor.shape().back() > 0 && tensor.shape().back() < 1 << 20)
          packed[name] = {
              name.size() % 2 == 0 ? fuselage::DType::qlog4 : fuselage::DType::qint8,
              std::max<std::int64_t>(1, 8 * tensor.shape().back() / bits -
                                            static_cast<std::int64_t>(name.size() % 8))};
      const fuselage::TensorMap joined =
          fuselage::join_quantized_weights(file.tensors, packed, "fuzz.safetensors");
      const fuselage::TensorMap again = fuselage::join_quantized_weights(
          fuselage::split_quantized_weights(joined), packed, "fuzz.safetensors");
      for (const auto& [name, tensor] : joined)
        if (fuselage::is_quantized(tensor.dtype()) &&
            std::memcmp(again.at(name).bytes(), tensor.bytes(), tensor.size_bytes()) != 0)
          std::abort();
    }
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
