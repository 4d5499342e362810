#include "base/numbers/truth.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace fuselage {
namespace {

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

char small(char c) { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<bool> parse_truth(std::string_view text) {
  constexpr std::string_view kTrue[] = {"true", "yes", "on", "y"};
  constexpr std::string_view kFalse[] = {"false", "no", "off", "n"};
  if (text.empty() || text.size() > 5) return std::nullopt;
  const std::string_view rest = text.substr(1);
  const bool one_case = std::ranges::none_of(rest, is_capital) ||
                        (is_capital(text[0]) && std::ranges::all_of(rest, is_capital));
  if (!one_case) return std::nullopt;
  std::string word(text);
  std::ranges::transform(word, word.begin(), small);
  if (std::ranges::find(kTrue, word) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, word) != std::end(kFalse)) return false;
  return std::nullopt;
}

}  // namespace fuselage
