#include "server/requests/translate_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"

namespace fuselage {
namespace {

std::string required(const RequestFields& fields, std::string_view name) {
  std::string value = fields.text(name);
  if (value.empty())
    throw HttpError(400, fmt::format("Invalid request: missing {} parameter", name));
  return value;
}

std::vector<std::string> required_texts(const RequestFields& fields, std::string_view name,
                                        std::size_t max_characters) {
  std::vector<std::string> texts = fields.texts(name);
  if (texts.empty() || (!fields.is_list(name) && texts[0].empty()))
    throw HttpError(400, fmt::format("Invalid request: missing {} parameter", name));
  std::size_t characters = 0;
  for (const std::string& text : texts)
    characters += static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  if (max_characters > 0 && characters > max_characters)
    throw HttpError(400, fmt::format("Invalid request: request ({}) exceeds text limit ({})",
                                     characters, max_characters));
  return texts;
}

}  // namespace

TranslateRequest read_translate_request(const RequestFields& fields, std::size_t max_characters) {
  TranslateRequest request;
  request.texts = required_texts(fields, "q", max_characters);
  request.is_list = fields.is_list("q");
  request.source = required(fields, "source");
  request.target = required(fields, "target");
  const std::string format = fields.text("format");
  if (!format.empty() && format != "text" && format != "html")
    throw HttpError(
        400, fmt::format("{} format is not supported; it can be text or html", in_quotes(format)));
  request.html = format == "html";
  request.alternatives =
      static_cast<std::size_t>(fields.number("alternatives", 0, kMaxTranslations - 1).value_or(0));
  return request;
}

LinesRequest read_lines_request(const RequestFields& fields, std::size_t max_characters) {
  static constexpr std::string_view kParameters[] = {
      "text",   "source",    "target",      "n_best", "prefix", "sentences",
      "tokens", "alignment", "word_scores", "stream", "api_key"};
  fields.expect_only(kParameters);
  LinesRequest request;
  request.lines = required_texts(fields, "text", max_characters);
  request.sentences = fields.flag("sentences");
  if (request.sentences && fields.is_list("text"))
    throw HttpError(400, "Invalid request: with 'sentences', 'text' must be one text, not a list");
  if (!request.sentences && !fields.is_list("text")) request.lines = lines_of(request.lines[0]);
  if (fields.has("prefix")) request.prefixes = fields.texts("prefix");
  request.tokens = fields.flag("tokens");
  request.source = fields.text("source");
  if (request.source.empty()) request.source = "auto";
  request.target = required(fields, "target");
  request.n_best =
      static_cast<std::size_t>(fields.number("n_best", 1, kMaxTranslations).value_or(1));
  request.alignment = fields.flag("alignment");
  request.word_scores = fields.flag("word_scores");
  request.stream = fields.flag("stream");
  return request;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace fuselage
