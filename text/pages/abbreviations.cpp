#include "text/pages/abbreviations.h"

#include <algorithm>

#include "text/pages/abbreviation_lists.h"
#include "text/pages/cldr_suppressions.h"
#include "text/split.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

/// The word with its first letter as a small one.
std::string with_small_letter(std::string_view word) {
  const Character first = first_character(word);
  std::string result;
  for (const char32_t letter : small_letters(first.code)) append_utf8(letter, result);
  result += word.substr(first.length);
  return result;
}

}  // namespace

Abbreviations::Abbreviations(std::string_view language) {
  const auto lists = abbreviation_lists();
  const auto own = std::ranges::find(lists, language, &AbbreviationLists::language);
  add_cldr(language, own == lists.end() ? "" : own->ordinary_words);
  if (own == lists.end()) return;
  add(own->may_end, FullStop::may_end);
  add(own->before_number, FullStop::before_number);
  add(own->never_ends, FullStop::never_ends);
  for_each_word(own->first_words, [this](std::string_view word) { first_words_.emplace(word); });
  ordinals_ = own->ordinals;
}

void Abbreviations::add(std::string_view words, FullStop kind) {
  for_each_word(words, [&](std::string_view word) { kinds_[std::string(word)] = kind; });
}

void Abbreviations::add_cldr(std::string_view language, std::string_view ordinary_words) {
  std::unordered_set<std::string_view> ordinary;
  for_each_word(ordinary_words, [&](std::string_view word) { ordinary.insert(word); });
  for (std::string word : cldr_suppressions(std::string(language))) {
    if (word.ends_with('.')) word.pop_back();
    // Of several words, the last one is met at the full stop.
    word.erase(0, word.rfind(' ') + 1);
    if (!word.empty() && !ordinary.contains(word)) kinds_[word] = FullStop::may_end;
  }
}

FullStop Abbreviations::kind(std::string_view word) const {
  if (word.empty() || !is_valid_utf8(word)) return FullStop::ends;
  auto found = kinds_.find(word);
  if (found == kinds_.end()) found = kinds_.find(with_small_letter(word));
  if (found != kinds_.end()) return found->second;
  // Initials, as in "J. R. R. Tolkien" and "J.-P.".
  const std::string_view last = word.substr(word.find_last_of(".-") + 1);
  const bool letter = !last.empty() && first_character(last).length == last.size() &&
                      is_unicode_letter(first_character(last).code);
  return letter ? FullStop::may_end : FullStop::ends;
}

}  // namespace fuselage
