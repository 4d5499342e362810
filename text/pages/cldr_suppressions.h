#pragma once

#include <string>
#include <vector>

namespace fuselage {

/// The abbreviations of a language, by its ISO 639-1 code, that CLDR lists as no ends of sentences,
/// with their full stops; none for a language without a list.
std::vector<std::string> cldr_suppressions(const std::string& language);

}  // namespace fuselage
