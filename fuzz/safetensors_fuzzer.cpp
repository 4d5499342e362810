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
    fuselage::join_quantized_weights(file.tensors, "fuzz.safetensors");
  } catch (const fuselage::Error&) {
  }
  return 0;
}
