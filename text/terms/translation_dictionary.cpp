#include "text/terms/translation_dictionary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files/compression.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace fuselage {

TranslationDictionary::TranslationDictionary(std::string_view bytes, const std::string& name,
                                             const Vocabulary* source)
    : source_(source) {
  for_each_line(bytes, [&](std::string_view text, std::size_t line) {
    if (text.empty()) return;
    if (!is_valid_utf8(text))
      throw Error(fmt::format("{}:{}: the line is not valid UTF-8, or has NUL in it", name, line));
    const std::size_t tab = text.find('\t');
    if (tab == 0 || tab == std::string_view::npos || tab + 1 == text.size() ||
        text.find('\t', tab + 1) != std::string_view::npos)
      throw Error(fmt::format("{}:{}: {} tabs; write a source word, a tab, and its translation",
                              name, line, std::ranges::count(text, '\t')));
    if (std::string word = normalized(text.substr(0, tab)); !word.empty())
      words_.emplace(std::move(word), text.substr(tab + 1));
  });
}

std::string TranslationDictionary::normalized(std::string_view word) const {
  return source_ == nullptr ? std::string(word) : source_->normalized(word);
}

std::string_view TranslationDictionary::translate(std::string_view word) const {
  if (words_.empty()) return word;
  const auto found = words_.find(normalized(word));
  return found == words_.end() ? word : std::string_view(found->second);
}

TranslationDictionary load_translation_dictionary(const std::string& path,
                                                  const Vocabulary* source) {
  return {read_text(path, kMaxDictionaryBytes), path, source};
}

}  // namespace fuselage
