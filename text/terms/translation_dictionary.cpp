#include "text/terms/translation_dictionary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compression.h"
#include "fuselage/base/error.h"
#include "text/split.h"
#include "text/utf8.h"

namespace fuselage {

TranslationDictionary::TranslationDictionary(std::string_view bytes, const std::string& name) {
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view text = without_carriage_return(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (text.empty()) continue;
    if (!is_valid_utf8(text))
      throw Error(fmt::format("{}:{}: the line is not valid UTF-8, or has NUL in it", name, line));
    const std::size_t tab = text.find('\t');
    if (tab == 0 || tab == std::string_view::npos || tab + 1 == text.size() ||
        text.find('\t', tab + 1) != std::string_view::npos)
      throw Error(fmt::format("{}:{}: {} tabs; write a source word, a tab, and its translation",
                              name, line, std::ranges::count(text, '\t')));
    words_.emplace(text.substr(0, tab), text.substr(tab + 1));
  }
}

std::string_view TranslationDictionary::translate(std::string_view word) const {
  const auto found = words_.find(word);
  return found == words_.end() ? word : std::string_view(found->second);
}

TranslationDictionary load_translation_dictionary(const std::string& path) {
  return {read_text(path, kMaxDictionaryBytes), path};
}

}  // namespace fuselage
