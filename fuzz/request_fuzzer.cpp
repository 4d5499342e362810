// Reads the body of a request to translate: JSON, a form, or the parts of another form; and divides
// its texts as lines and as HTML.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "server/requests/translate_request.h"
#include "server/text/text_parts.h"
#include "text/utf8.h"

namespace {

using namespace fuselage;

void use_text(const std::string& text) {
  if (!is_valid_utf8(text) && text.find('\0') == std::string::npos)
    throw InternalError("a text is not valid UTF-8");
  std::string joined;
  for (const TextPart& part : parts_of_text(text)) joined += part.text;
  if (joined != text) throw InternalError("the parts of a text are not the text");
  for (const TextPart& part : parts_of_html(text))
    if (part.translated && !is_valid_utf8(part.text) && text.find('\0') == std::string::npos)
      throw InternalError("a text between tags is not valid UTF-8");
}

void use(const HttpRequest& request) {
  constexpr std::size_t kMaxCharacters = 1000;
  try {
    const RequestFields fields(request);
    try {
      for (const std::string& text : read_translate_request(fields, kMaxCharacters).texts)
        use_text(text);
    } catch (const HttpError& error) {
      check_message(error);
    }
    for (const std::string& line : read_lines_request(fields, kMaxCharacters).lines) use_text(line);
  } catch (const HttpError& error) {
    check_message(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  use({.content_type = "application/json", .body = body});
  use({.content_type = "application/x-www-form-urlencoded", .body = body});
  use({.content_type = "multipart/form-data", .parts = parse_form(body)});
  use({.body = body});
  return 0;
}
