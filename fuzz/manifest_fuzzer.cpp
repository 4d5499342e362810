#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/directory/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Manifest manifest = parse_manifest(text, kManifestFile);
    check(parse_manifest(print_manifest(manifest), kManifestFile) == manifest,
          "a manifest is another when it is printed and read again");
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
