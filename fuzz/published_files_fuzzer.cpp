// Sorts the names of a directory, one a line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/marian/published_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find('\n');
    names.emplace_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  try {
    const PublishedFiles found = find_published_files(names, "fuzz");
    check(!found.model.empty() || !found.configuration.empty(), "there is no model");
    check(found.vocabularies.empty() || found.vocabularies.size() == 2, "not two vocabularies");
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
