#include "server/routes/line_json.h"

#include "base/classic_locale.h"
#include "decoding/output_json.h"
#include "server/text/sentences.h"

namespace fuselage {
namespace {

std::string_view oddity_name(LineOddity oddity) {
  switch (oddity) {
    case LineOddity::empty:
      return "empty";
    case LineOddity::invalid_text:
      return "invalid_text";
    case LineOddity::too_long:
      return "too_long";
    case LineOddity::too_large:
      return "too_large";
    case LineOddity::line_break:
      return "line_break";
  }
  return "";
}

Json span_json(TextSpan span) { return Json::array({span.begin, span.end}); }

Json tokens_json(const std::vector<TokenSpan>& tokens, const CharacterPlaces& places) {
  Json list = Json::array();
  for (const TokenSpan& token : tokens)
    list.push_back(span_json(places.of({token.begin, token.end})));
  return list;
}

/// Adds the places of tokens to the JSON of a line, for the source and for each translation.
void add_tokens(Json& json, const ShownLine& line, const Translation& translation,
                const Translator& translator, const CharacterPlaces& places) {
  for (std::size_t i = 0; i < translation.n_best.size(); ++i) {
    const TranslatedText& entry = translation.n_best[i];
    const TokenSpans spans =
        translator.token_spans(line.text, entry, {.prefix = std::string(line.prefix)});
    if (i == 0) json["source_tokens"] = tokens_json(spans.source, places);
    json["translations"][i]["tokens"] = tokens_json(spans.target, CharacterPlaces(entry.text));
  }
}

}  // namespace

Json line_json(const ShownLine& line, Translation translation, const LinesRequest& wanted,
               const ServedModel* model) {
  if (translation.n_best.size() > wanted.n_best) translation.n_best.resize(wanted.n_best);
  OutputFormat format{.n_best = true, .word_scores = wanted.word_scores, .json = true};
  if (wanted.alignment) format.alignment = AlignmentFormat{};
  const ClassicLocale classic;
  Json json = Json::parse(json_line(line.number, translation, format));
  const CharacterPlaces places =
      line.place ? CharacterPlaces(line.whole, *line.place) : CharacterPlaces(line.text);
  if (line.place) json["place"] = span_json(places.whole());
  if (wanted.tokens && model != nullptr)
    add_tokens(json, line, translation, model->translator(), places);
  if (translation.oddities.empty()) return json;
  Json notes = Json::array();
  for (const LineOddity oddity : translation.oddities) notes.push_back(oddity_name(oddity));
  json["notes"] = std::move(notes);
  return json;
}

}  // namespace fuselage
