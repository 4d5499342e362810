#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/mutate.h"
#include "fuzz/zip.h"
#include "models/formats/npz.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::string archive(reinterpret_cast<const char*>(data), size);
  fuselage::mutate(archive, max_size);
  // Sometimes keep a wrong checksum.
  if (seed % 16 != 0) fuselage::repair_checksums(archive);
  return fuselage::hand_over(archive, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& [name, tensor] : fuselage::read_npz(bytes, "fuzz.npz").tensors)
      tensor.to_f32();
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  try {
    fuselage::read_npy(bytes, "fuzz.npy").to_f32();
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
