#include "decoding/lines/source_encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {

SourceEncoder::SourceEncoder(const Graph& graph, const VocabularyPair& vocabularies,
                             LineEncoder::Options options, TextFrame frame)
    : frame_(std::move(frame)) {
  options.max_length -= std::min(options.max_length, frame_.size());
  const std::vector<MapId> texts = source_texts(graph);
  const std::size_t count = 1 + vocabularies.further_sources.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Vocabulary& vocabulary =
        i == 0 ? *vocabularies.source : *vocabularies.further_sources[i - 1];
    const RowMap& map = graph.map(texts.at(i));
    if (options.placeholders && i > 0 && map.from == fields_.front().domain)
      throw Error(
          "placeholders change the number of words of a text, but the model reads factors of them; "
          "leave placeholders out");
    LineEncoder::Options of_field = options;
    if (i > 0) of_field.placeholders = nullptr;
    fields_.push_back({map.name, map.from, LineEncoder(vocabulary, of_field)});
  }
}

EncodedLine SourceEncoder::encode(std::string_view line, std::size_t number,
                                  const LineContext& context) const {
  const LineEncoder& first = fields_.front().encoder;
  if (!frame_.task.empty() && !line.empty()) {
    EncodedLine result = first.encode(fmt::format("{}{}", frame_.task, line), number, context);
    result.bytes = line.size() + 1;
    for (Placeholder& each : result.placeholders)
      each.place = {each.place.begin - frame_.task.size(), each.place.end - frame_.task.size()};
    return result;
  }
  if (fields_.size() == 1 || line.empty()) return first.encode(line, number, context);
  const std::vector<std::string_view> parts = split(line, number);
  EncodedLine result = first.encode(parts.front(), number, context);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EncodedLine field = fields_[i].encoder.encode(parts[i], number);
    result.further.push_back(std::move(field.words));
    for (const LineOddity oddity : field.oddities)
      if (oddity != LineOddity::empty &&
          std::ranges::find(result.oddities, oddity) == result.oddities.end())
        result.oddities.push_back(oddity);
  }
  result.bytes = line.size() + 1;
  expect_equal_factors(result, number);
  return result;
}

std::vector<std::string_view> SourceEncoder::split(std::string_view line,
                                                   std::size_t number) const {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() == fields_.size()) return parts;
  std::vector<std::string_view> names;
  for (const Field& field : fields_) names.push_back(field.name);
  throw Error(fmt::format("line {} has {} fields, but the model reads {}, separated by tabs: {}",
                          number + 1, parts.size(), fields_.size(), fmt::join(names, ", ")));
}

void SourceEncoder::expect_equal_factors(const EncodedLine& line, std::size_t number) const {
  for (std::size_t i = 1; i < fields_.size(); ++i) {
    const auto text = std::ranges::find(fields_, fields_[i].domain, &Field::domain);
    const auto at = static_cast<std::size_t>(text - fields_.begin());
    const std::size_t wanted = at == 0 ? line.words.size() : line.further[at - 1].size();
    if (line.further[i - 1].size() != wanted)
      throw Error(fmt::format(
          "line {} has {} words in field {}, '{}', but {} in field {}, '{}', whose factor it is",
          number + 1, line.further[i - 1].size() - 1, i + 1, fields_[i].name, wanted - 1, at + 1,
          text->name));
  }
}

SourceBatch::SourceBatch(const SourceEncoder& encoder, std::span<const EncodedLine> lines) {
  const auto& fields = encoder.fields();
  if (fields.size() > 1) rows_.resize(fields.size());
  for (const EncodedLine& line : lines) {
    if (line.empty()) continue;
    sentences_.push_back(encoder.frame().framed(line.words));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const WordIds& words = i == 0 ? sentences_.back() : line.further[i - 1];
      rows_[i].lengths.push_back(static_cast<std::int32_t>(words.size()));
      rows_[i].words.insert(rows_[i].words.end(), words.begin(), words.end());
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    inputs_.push_back(
        {.name = fields[i].name, .lengths = rows_[i].lengths, .words = rows_[i].words});
}

}  // namespace fuselage
