#include "backends/graph_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using Kind = GraphInput::Kind;

bool has_rows_of_sentences(DomainKind kind) {
  return kind == DomainKind::source || kind == DomainKind::shortlist ||
         kind == DomainKind::hypothesis;
}

bool has_step_outputs(const Graph& graph) {
  return std::any_of(graph.outputs().begin(), graph.outputs().end(), [&](const Output& output) {
    return graph.binding(output.value) == BindingTime::step;
  });
}

Dims with_rows(std::int64_t rows, const Dims& dims) {
  Dims all{rows};
  all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

std::vector<std::int32_t> to_words(const GraphInput& input, const Tensor& values) {
  if (values.dtype() != DType::i32 && values.dtype() != DType::i64)
    throw Error(fmt::format("input '{}' has type {}, but the words of a map are i32 or i64",
                            input.name, to_string(values.dtype())));
  std::vector<std::int32_t> words;
  words.reserve(static_cast<std::size_t>(values.size()));
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const std::int64_t word = values.dtype() == DType::i32 ? values.data<std::int32_t>()[i]
                                                           : values.data<std::int64_t>()[i];
    // Outside of every vocabulary, also after the conversion.
    constexpr std::int64_t kNoWord = std::numeric_limits<std::int32_t>::max();
    words.push_back(static_cast<std::int32_t>(std::clamp(word, -kNoWord, kNoWord)));
  }
  return words;
}

Tensor to_numbers(const GraphInput& input, const Tensor& values) {
  if (values.dtype() != DType::f32 && values.dtype() != DType::f64)
    throw Error(fmt::format("input '{}' has type {}, but its numbers are f32 or f64", input.name,
                            to_string(values.dtype())));
  return values.dtype() == DType::f32 ? values : values.to_f32();
}

}  // namespace

std::vector<GraphInput> graph_inputs(const Graph& graph) {
  std::vector<GraphInput> inputs;
  std::vector<bool> known(graph.domain_count(), false);
  const bool steps = has_step_outputs(graph);
  bool has_steps = false;
  const auto add = [&](GraphInput input) {
    const Domain& domain = graph.domain(input.type.domain);
    const bool is_step = domain.binding == BindingTime::step;
    // All hypotheses read one word in a step.
    if (is_step && has_steps) return;
    has_steps = has_steps || is_step;
    input.needed = steps || !is_step;
    known[input.type.domain.index] = true;
    inputs.push_back(std::move(input));
  };
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word)
      add({.name = map.name,
           .kind = Kind::words,
           .type = {DType::i32, map.from, {}},
           .vocabulary = graph.domain(map.to).size,
           .partial = map.partial});
  }
  for (const Input& input : graph.inputs())
    add({.name = input.name, .kind = Kind::numbers, .type = input.type});
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (!known[i] && has_rows_of_sentences(graph.domain(DomainId{i}).kind))
      add({.name = graph.domain(DomainId{i}).name,
           .kind = Kind::rows,
           .type = {DType::f32, DomainId{i}, {}}});
  return inputs;
}

CheckedInputs::CheckedInputs(const Graph& graph, std::span<const GraphInput> declared,
                             std::span<const NamedRows> given) {
  std::vector<std::string_view> names;
  for (const GraphInput& input : declared) names.emplace_back(input.name);
  data_.reserve(declared.size());
  for (const NamedRows& rows : given) {
    const auto found = std::find(names.begin(), names.end(), rows.name);
    if (found == names.end())
      throw Error(fmt::format("graph '{}' has no input {}{}", graph.name(), in_quotes(rows.name),
                              did_you_mean(rows.name, names)));
    const GraphInput& input = declared[static_cast<std::size_t>(found - names.begin())];
    for (const Data& other : data_)
      if (other.input == &input) throw Error(fmt::format("input '{}' is given twice", input.name));
    add(graph, input, rows);
  }
  for (const GraphInput& input : declared) {
    const bool is_given = std::any_of(data_.begin(), data_.end(),
                                      [&](const Data& data) { return data.input == &input; });
    if (!input.needed || is_given) continue;
    const Domain& domain = graph.domain(input.type.domain);
    if (input.kind != Kind::rows)
      throw Error(fmt::format("graph '{}' needs the input '{}', with rows of '{}'; give it",
                              graph.name(), input.name, domain.name));
    throw Error(fmt::format(
        "graph '{}' reads nothing with rows of '{}', so the number of its rows is not known; give "
        "an input '{}', of which only the lengths count",
        graph.name(), domain.name, input.name));
  }
  for (const Data& data : data_)
    if (data.is_step) steps_ = &data;
}

void CheckedInputs::add(const Graph& graph, const GraphInput& input, const NamedRows& given) {
  Data data{.input = &input,
            .lengths = {},
            .begin = {0},
            .words = {},
            .numbers = {},
            .is_step = graph.domain(input.type.domain).binding == BindingTime::step};
  const Dims& shape = given.values.shape();
  const std::int64_t rows = shape.empty() ? 0 : shape[0];
  if (input.kind == Kind::words) data.words = to_words(input, given.values);
  if (input.kind == Kind::numbers) data.numbers = to_numbers(input, given.values);
  const Dims wanted = with_rows(rows, input.type.dims);
  if (input.kind != Kind::rows && shape != wanted)
    throw Error(fmt::format("input '{}' has shape {}, but rows of {} make {}", input.name,
                            shape_to_string(shape), shape_to_string(input.type.dims),
                            shape_to_string(wanted)));
  set_lengths(graph, data, given, rows);
  for (std::size_t s = 0; s < data.lengths.size(); ++s)
    for (std::int64_t r = data.begin[s]; !data.words.empty() && r < data.begin[s + 1]; ++r) {
      const std::int32_t word = data.words[static_cast<std::size_t>(r)];
      if (word < (input.partial ? -1 : 0) || word >= input.vocabulary)
        throw Error(fmt::format(
            "input '{}' has word {} in row {} of sentence {}, but its vocabulary has {} entries{}",
            input.name, word, r - data.begin[s] + 1, s + 1, input.vocabulary,
            word == -1 ? ", and the map is not partial" : ""));
    }
  compare_with_others(graph, data);
  sentences_ = data.lengths.size();
  data_.push_back(std::move(data));
}

void CheckedInputs::set_lengths(const Graph& graph, Data& data, const NamedRows& given,
                                std::int64_t rows) const {
  const GraphInput& input = *data.input;
  const Domain& domain = graph.domain(input.type.domain);
  const bool one_each = domain.kind == DomainKind::sentence;
  data.lengths = given.lengths;
  if (data.lengths.empty() && one_each)
    data.lengths.assign(static_cast<std::size_t>(rows), 1);
  else if (data.lengths.empty())
    data.lengths = {static_cast<std::int32_t>(rows)};
  for (std::size_t s = 0; s < data.lengths.size(); ++s) {
    const std::int32_t length = data.lengths[s];
    if (length < (data.is_step ? 0 : 1) || (one_each && length != 1))
      throw Error(fmt::format("input '{}' has {} rows for sentence {}, but '{}' has {}", input.name,
                              length, s + 1, domain.name,
                              one_each       ? "one for each"
                              : data.is_step ? "0 or more"
                                             : "one or more"));
    data.begin.push_back(data.begin.back() + length);
  }
  if (input.kind != Kind::rows && data.begin.back() != rows)
    throw Error(fmt::format("input '{}' has {} rows, but its lengths add up to {}", input.name,
                            rows, data.begin.back()));
}

void CheckedInputs::compare_with_others(const Graph& graph, const Data& data) const {
  for (const Data& other : data_) {
    if (other.lengths.size() != data.lengths.size())
      throw Error(fmt::format("input '{}' has {} sentences, but '{}' has {}", data.input->name,
                              data.lengths.size(), other.input->name, other.lengths.size()));
    if (other.input->type.domain != data.input->type.domain) continue;
    for (std::size_t s = 0; s < data.lengths.size(); ++s)
      if (data.lengths[s] != other.lengths[s])
        throw Error(
            fmt::format("sentence {} has {} rows in input '{}', but {} in '{}'; both are "
                        "rows of '{}'",
                        s + 1, data.lengths[s], data.input->name, other.lengths[s],
                        other.input->name, graph.domain(data.input->type.domain).name));
  }
}

std::int32_t CheckedInputs::steps(std::size_t sentence) const {
  return steps_ ? steps_->lengths[sentence] : 0;
}

std::int32_t CheckedInputs::word(std::size_t sentence, std::int32_t step) const {
  if (steps_->words.empty()) return -1;
  return steps_->words[static_cast<std::size_t>(steps_->begin[sentence] + step)];
}

std::int32_t CheckedInputs::longest(std::size_t sentence) const {
  std::int32_t rows = 1;
  for (const Data& data : data_) rows = std::max(rows, data.lengths[sentence]);
  return rows;
}

std::vector<BatchInput> CheckedInputs::batch(std::size_t begin, std::size_t end) const {
  std::vector<BatchInput> inputs;
  for (const Data& data : data_) {
    if (data.is_step) continue;
    const auto first = static_cast<std::size_t>(data.begin[begin]);
    const auto count = static_cast<std::size_t>(data.begin[end]) - first;
    BatchInput input{.name = data.input->name,
                     .lengths = std::span(data.lengths).subspan(begin, end - begin)};
    if (data.input->kind == Kind::words) input.words = std::span(data.words).subspan(first, count);
    const auto size = static_cast<std::size_t>(row_size(data.input->type));
    if (data.input->kind == Kind::numbers)
      input.numbers = {data.numbers.data<float>() + first * size, count * size};
    inputs.push_back(input);
  }
  return inputs;
}

}  // namespace fuselage
