// The minimal build has no ICU, so it divides no texts into sentences.
#include "text/pages/sentence_boundaries.h"

#include "fuselage/base/error.h"
#include "text/pages/cldr_suppressions.h"

namespace fuselage {

class SentenceBoundaries::Impl {};

SentenceBoundaries::SentenceBoundaries(const std::string&) {
  throw Error("this build divides no texts into sentences; translate a line for each sentence");
}

SentenceBoundaries::~SentenceBoundaries() = default;

void SentenceBoundaries::for_each(std::string_view, const std::function<void(std::size_t)>&) const {
}

std::string base_language(std::string_view language) {
  return std::string(language.substr(0, language.find_first_of("_-")));
}

std::vector<std::string> cldr_suppressions(const std::string&) { return {}; }

}  // namespace fuselage
