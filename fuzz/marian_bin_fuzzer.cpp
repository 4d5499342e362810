#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/formats/marian_bin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& [name, tensor] : fuselage::read_marian_bin(bytes, "fuzz.bin").tensors)
      tensor.to_f32();
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
