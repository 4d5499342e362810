#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "text/terms/terminology.h"

// The first line is looked through for the terms of the others.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return 0;
  try {
    const fuselage::Terminology terms(bytes.substr(end + 1), "fuzz.tsv");
    for (const std::size_t entry : terms.find(bytes.substr(0, end)))
      if (terms.entries().at(entry).forms.empty()) __builtin_trap();
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
