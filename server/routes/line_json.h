#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fuselage/decoding/translation.h"
#include "server/http/reply_json.h"
#include "server/models/served_model.h"
#include "server/requests/translate_request.h"
#include "text/text_span.h"

namespace fuselage {

/// A line of a request, as its reply shows it.
struct ShownLine {
  std::size_t number = 0;
  std::string_view text;    ///< as the model reads it
  std::string_view prefix;  ///< of its translation
  /// Of a sentence: the text of the request, and the place in it.
  std::string_view whole = {};
  std::optional<TextSpan> place = {};
};

/// A line as `fuselage translate --n-best --json` prints it, with notes on its source and what else
/// is wanted. `model` is null where two models translate, so that no places of tokens are known.
Json line_json(const ShownLine& line, Translation translation, const LinesRequest& wanted,
               const ServedModel* model);

}  // namespace fuselage
