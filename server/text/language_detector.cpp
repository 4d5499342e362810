#include "server/text/language_detector.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>
#include <string>

#include "text/utf8.h"

namespace fuselage {
namespace {

/// The present code of ISO 639, which is another in a few cases.
std::string code_of(CLD2::Language language) {
  const std::string code = CLD2::LanguageCode(language);
  return code == "iw" ? "he" : code;
}

}  // namespace

std::vector<DetectedLanguage> detect_languages(std::string_view text, bool html) {
  // More than this tells no more.
  constexpr std::size_t kEnough = 20'000;
  std::array<CLD2::Language, 3> languages{};
  std::array<int, 3> shares{};
  std::array<double, 3> scores{};
  const CLD2::CLDHints hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  int bytes = 0, valid = 0;
  bool reliable = false;
  // CLD2 takes control characters for invalid text.
  std::string plain(utf8_prefix(text, kEnough));
  std::ranges::replace_if(
      plain, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  CLD2::ExtDetectLanguageSummaryCheckUTF8(
      plain.data(), static_cast<int>(plain.size()), !html, &hints, CLD2::kCLDFlagBestEffort,
      languages.data(), shares.data(), scores.data(), nullptr, &bytes, &reliable, &valid);
  std::vector<DetectedLanguage> detected;
  for (std::size_t i = 0; i < languages.size(); ++i)
    if (languages[i] != CLD2::UNKNOWN_LANGUAGE && shares[i] > 0)
      detected.push_back({code_of(languages[i]), reliable ? shares[i] : shares[i] / 2.0});
  return detected;
}

}  // namespace fuselage
