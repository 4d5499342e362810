#include "text/pages/cldr_suppressions.h"

#include <unicode/unistr.h>
#include <unicode/ures.h>

#include <cstdint>
#include <memory>

namespace fuselage {

std::vector<std::string> cldr_suppressions(const std::string& language) {
  // Where ICU has the data of its break iterators.
  constexpr const char* kBreakData = U_ICUDATA_NAME "-brkitr";
  using Resource = std::unique_ptr<UResourceBundle, decltype(&ures_close)>;
  UErrorCode status = U_ZERO_ERROR;
  // Direct: else the language of the process would take the place of an unknown one.
  Resource list(ures_openDirect(kBreakData, language.c_str(), &status), &ures_close);
  for (const char* key : {"exceptions", "SentenceBreak"})
    list = Resource(ures_getByKey(list.get(), key, nullptr, &status), &ures_close);
  std::vector<std::string> words;
  if (U_FAILURE(status)) return words;
  for (std::int32_t i = 0; i < ures_getSize(list.get()); ++i) {
    std::int32_t length = 0;
    const UChar* text = ures_getStringByIndex(list.get(), i, &length, &status);
    if (U_FAILURE(status)) break;
    icu::UnicodeString(text, length).toUTF8String(words.emplace_back());
  }
  return words;
}

}  // namespace fuselage
