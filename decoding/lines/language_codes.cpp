#include "decoding/lines/language_codes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Codes of ISO 639-1 and the codes of ISO 639-3 by which NLLB-200 has the language.
constexpr std::array<std::pair<std::string_view, std::string_view>, 132> kThreeLetters{{
    {"af", "afr"}, {"am", "amh"}, {"ar", "arb"}, {"as", "asm"}, {"az", "azj"}, {"ba", "bak"},
    {"be", "bel"}, {"bg", "bul"}, {"bm", "bam"}, {"bn", "ben"}, {"bo", "bod"}, {"bs", "bos"},
    {"ca", "cat"}, {"cs", "ces"}, {"cy", "cym"}, {"da", "dan"}, {"de", "deu"}, {"dz", "dzo"},
    {"ee", "ewe"}, {"el", "ell"}, {"en", "eng"}, {"eo", "epo"}, {"es", "spa"}, {"et", "est"},
    {"eu", "eus"}, {"fa", "pes"}, {"fi", "fin"}, {"fj", "fij"}, {"fo", "fao"}, {"fr", "fra"},
    {"ga", "gle"}, {"gd", "gla"}, {"gl", "glg"}, {"gn", "grn"}, {"gu", "guj"}, {"ha", "hau"},
    {"he", "heb"}, {"hi", "hin"}, {"hr", "hrv"}, {"ht", "hat"}, {"hu", "hun"}, {"hy", "hye"},
    {"id", "ind"}, {"ig", "ibo"}, {"is", "isl"}, {"it", "ita"}, {"ja", "jpn"}, {"jv", "jav"},
    {"ka", "kat"}, {"kg", "kon"}, {"ki", "kik"}, {"kk", "kaz"}, {"km", "khm"}, {"kn", "kan"},
    {"ko", "kor"}, {"ku", "kmr"}, {"ky", "kir"}, {"lb", "ltz"}, {"lg", "lug"}, {"li", "lim"},
    {"ln", "lin"}, {"lo", "lao"}, {"lt", "lit"}, {"lu", "lua"}, {"lv", "lvs"}, {"mg", "plt"},
    {"mi", "mri"}, {"mk", "mkd"}, {"ml", "mal"}, {"mn", "khk"}, {"mr", "mar"}, {"ms", "zsm"},
    {"mt", "mlt"}, {"my", "mya"}, {"nb", "nob"}, {"ne", "npi"}, {"nl", "nld"}, {"nn", "nno"},
    {"no", "nob"}, {"ny", "nya"}, {"oc", "oci"}, {"om", "gaz"}, {"or", "ory"}, {"pa", "pan"},
    {"pl", "pol"}, {"ps", "pbt"}, {"pt", "por"}, {"qu", "quy"}, {"rn", "run"}, {"ro", "ron"},
    {"ru", "rus"}, {"rw", "kin"}, {"sa", "san"}, {"sc", "srd"}, {"sd", "snd"}, {"sg", "sag"},
    {"si", "sin"}, {"sk", "slk"}, {"sl", "slv"}, {"sm", "smo"}, {"sn", "sna"}, {"so", "som"},
    {"sq", "als"}, {"sr", "srp"}, {"ss", "ssw"}, {"st", "sot"}, {"su", "sun"}, {"sv", "swe"},
    {"sw", "swh"}, {"ta", "tam"}, {"te", "tel"}, {"tg", "tgk"}, {"th", "tha"}, {"ti", "tir"},
    {"tk", "tuk"}, {"tl", "tgl"}, {"tn", "tsn"}, {"tr", "tur"}, {"ts", "tso"}, {"tt", "tat"},
    {"tw", "twi"}, {"ug", "uig"}, {"uk", "ukr"}, {"ur", "urd"}, {"uz", "uzn"}, {"vi", "vie"},
    {"wo", "wol"}, {"xh", "xho"}, {"yi", "ydd"}, {"yo", "yor"}, {"zh", "zho"}, {"zu", "zul"},
}};

/// The languages whose code begins with these letters and a separator. A script in Latin letters
/// comes first where a language has several.
std::vector<const Language*> beginning_with(const std::vector<Language>& languages,
                                            std::string_view letters) {
  std::vector<const Language*> found;
  for (const Language& language : languages)
    if (const std::string_view code = language.code;
        code.size() > letters.size() && code.starts_with(letters) &&
        (code[letters.size()] == '_' || code[letters.size()] == '-'))
      found.push_back(&language);
  return found;
}

}  // namespace

const Language& find_language(const std::vector<Language>& languages, const std::string& code) {
  if (const auto exact = std::ranges::find(languages, code, &Language::code);
      exact != languages.end())
    return *exact;
  std::vector<const Language*> found = beginning_with(languages, code);
  if (const auto* longer = std::ranges::find(kThreeLetters, std::string_view(code),
                                             &std::pair<std::string_view, std::string_view>::first);
      found.empty() && longer != kThreeLetters.end())
    found = beginning_with(languages, longer->second);
  if (found.size() == 1) return *found.front();
  std::vector<std::string_view> names;
  for (const Language* language : found) names.push_back(language->code);
  if (!names.empty())
    throw Error(fmt::format("language {} can be {}; state one of them", in_quotes(code),
                            fmt::join(names, " or ")));
  for (const Language& language : languages) names.push_back(language.code);
  throw Error(fmt::format("the model has no language {}{}; `fuselage info` lists its {} languages",
                          in_quotes(code), did_you_mean(code, names), languages.size()));
}

}  // namespace fuselage
