#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fuselage {

/// The languages of a model, by code.
struct LanguagePair {
  std::string source, target;

  bool operator==(const LanguagePair&) const = default;
};

/// "en-de".
std::string to_string(const LanguagePair& pair);

/// The languages that the name of a folder or file ends with or consists of: "en-de", "en_de",
/// "opus-mt-en-de", "ende"; none: the name says nothing.
std::optional<LanguagePair> languages_of_name(std::string_view name);

/// Whether this is the code of a language: 2 or 3 small letters, which subtags may follow: "en",
/// "deu", "zh_Hant", "pt-BR".
bool is_language_code(std::string_view code);

/// Whether a text that is in language `detected` is in language `code`: "de" is in "deu_Latn".
bool is_same_language(std::string_view code, std::string_view detected);

/// The English name of a language; the code itself if it is not known.
std::string language_name(std::string_view code);

}  // namespace fuselage
