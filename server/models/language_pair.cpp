#include "server/models/language_pair.h"

#include <cld2/internal/lang_script.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "text/pages/sentence_boundaries.h"

namespace fuselage {
namespace {

CLD2::Language known_language(std::string_view code) {
  return CLD2::GetLanguageFromName(base_language(code).c_str());
}

bool is_known(std::string_view code) { return known_language(code) != CLD2::UNKNOWN_LANGUAGE; }

/// Whether a part of a name is the code of a language: "en", "deu", "zh".
bool is_code(std::string_view part) {
  return (part.size() == 2 || part.size() == 3) && std::ranges::all_of(part, [](unsigned char c) {
           return c < 0x80 && std::islower(c) != 0;
         });
}

}  // namespace

std::string to_string(const LanguagePair& pair) {
  return fmt::format("{}-{}", pair.source, pair.target);
}

std::optional<LanguagePair> languages_of_name(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : name)
    if (c == '-' || c == '_' || c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  // The last two neighbours that are codes: names may end with a version.
  for (std::size_t i = parts.size() - 1; i > 0; --i)
    if (is_code(parts[i - 1]) && is_code(parts[i]) && is_known(parts[i - 1]) && is_known(parts[i]))
      return LanguagePair{parts[i - 1], parts[i]};
  if (name.size() != 4) return std::nullopt;
  const std::string source(name.substr(0, 2)), target(name.substr(2));
  if (!is_code(source) || !is_code(target) || !is_known(source) || !is_known(target))
    return std::nullopt;
  return LanguagePair{source, target};
}

bool is_language_code(std::string_view code) {
  std::size_t end = std::min(code.find_first_of("-_"), code.size());
  if (!is_code(code.substr(0, end))) return false;
  while (end < code.size()) {
    const std::size_t next = std::min(code.find_first_of("-_", end + 1), code.size());
    const std::string_view subtag = code.substr(end + 1, next - end - 1);
    if (subtag.empty() || subtag.size() > 8 || !std::ranges::all_of(subtag, [](unsigned char c) {
          return c < 0x80 && std::isalnum(c) != 0;
        }))
      return false;
    end = next;
  }
  return true;
}

bool is_same_language(std::string_view code, std::string_view detected) {
  return base_language(code) == base_language(detected);
}

std::string language_name(std::string_view code) {
  const CLD2::Language language = known_language(code);
  if (language == CLD2::UNKNOWN_LANGUAGE) return std::string(code);
  std::string name = CLD2::LanguageName(language);
  bool inside = false;
  for (char& c : name) {
    if (c == '_') c = ' ';
    if (inside) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    inside = c != ' ';
  }
  return name;
}

}  // namespace fuselage
