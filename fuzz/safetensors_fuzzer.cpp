#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "models/quantized_parts.h"
#include "models/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto file = fuselage::read_safetensors(bytes, "fuzz.safetensors");
    // Nibbles are joined as vectors of even and, by their name, of odd length.
    fuselage::VectorLengths nibbles;
    for (const auto& [name, tensor] : file.tensors)
      if (!tensor.shape().empty() && tensor.shape().back() > 0 && tensor.shape().back() < 1 << 20)
        nibbles[name] = 2 * tensor.shape().back() - static_cast<std::int64_t>(name.size() % 2);
    fuselage::join_quantized_weights(file.tensors, nibbles, "fuzz.safetensors");
  } catch (const fuselage::Error&) {
  }
  return 0;
}
