#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A language that a text may be in.
struct DetectedLanguage {
  std::string code;       ///< "de"
  double confidence = 0;  ///< per cent of the text
};

/// The languages of a text in valid UTF-8, the likeliest first; empty if nothing can be told, as
/// from a few letters. By Compact Language Detector 2, which knows 83 languages from their script
/// and their four-letter sequences.
std::vector<DetectedLanguage> detect_languages(std::string_view text, bool html = false);

}  // namespace fuselage
