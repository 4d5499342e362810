// Reads the body of a request to translate: JSON, a form, or the parts of another form.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "server/requests/translate_request.h"
#include "text/utf8.h"

namespace {

using namespace fuselage;

void use_text(const std::string& text) {
  // NUL is no valid text for the engine, but JSON has it.
  if (text.find('\0') == std::string::npos && !is_valid_utf8(text))
    throw InternalError("a text is not valid UTF-8");
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
    const LinesRequest lines = read_lines_request(fields, kMaxCharacters);
    for (const std::string& line : lines.lines) use_text(line);
    for (const std::string& prefix : lines.prefixes) use_text(prefix);
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
  use({.method = "GET", .query = parse_form(body)});
  return 0;
}
