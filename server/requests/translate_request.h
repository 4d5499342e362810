#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/requests/request_fields.h"

namespace fuselage {

/// The largest number of translations that a request may ask for.
inline constexpr std::int64_t kMaxTranslations = 64;

/// What POST /translate asks for.
struct TranslateRequest {
  std::vector<std::string> texts;
  bool is_list = false;  ///< the texts were a list
  std::string source, target;
  bool html = false;
  std::size_t alternatives = 0;
};

/// What POST /v1/translate asks for.
struct LinesRequest {
  std::vector<std::string> lines;
  std::string source, target;
  std::size_t n_best = 1;
  bool sentences = false;             ///< `lines` is one text, of which each sentence is a line
  std::vector<std::string> prefixes;  ///< of the translations, one for each line; empty: none
  bool tokens = false;                ///< where the tokens of lines and translations are
  bool alignment = false;
  bool word_scores = false;
  bool stream = false;
};

/// Throw HttpError 400 that names the field for one that is missing or has another type, and for
/// more than `max_characters` characters in all texts; 0: any number. Further fields are errors in
/// a request for lines; else they are ignored, as LibreTranslate does.
TranslateRequest read_translate_request(const RequestFields& fields, std::size_t max_characters);
LinesRequest read_lines_request(const RequestFields& fields, std::size_t max_characters);

/// The lines of a text, without line breaks. A line break at the end begins no further line.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace fuselage
