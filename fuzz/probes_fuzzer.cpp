#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/directory/probes_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    try {
      const Probes probes = parse_probes(text, "probes.json", ignore_unknown);
      // Numbers of few digits may be printed with more.
      if (const std::string printed = print_probes(probes); printed.size() <= kMaxProbes)
        check(parse_probes(printed, "again") == probes,
              "probes are others when they are printed and read again");
    } catch (const Error& error) {
      check_message(error);
    }
  }
  return 0;
}
