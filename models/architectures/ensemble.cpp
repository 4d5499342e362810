#include "fuselage/models/architectures/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/builder.h"
#include "graph/append.h"
#include "models/architectures/scores.h"
#include "models/decode_keys.h"

namespace fuselage {
namespace {

/// Size of a model's source vocabulary; 0 if it has none.
std::int64_t source_words(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word && graph.domain(map.from).kind == DomainKind::source)
      return graph.domain(map.to).size;
  }
  return 0;
}

void check_same_words(std::string_view side, const EnsembleMember& a, std::int64_t a_words,
                      const EnsembleMember& b, std::int64_t b_words) {
  if (a_words != b_words)
    throw Error(fmt::format(
        "{} has {} {} words, but {} has {}; models of an ensemble must share their vocabularies",
        a.where, a_words, side, b.where, b_words));
}

std::string_view direction(const Model& model) {
  return model.right_left ? "right to left" : "left to right";
}

/// The files of a model's vocabularies, and of the splitters of their text.
std::vector<std::string> text_files(const Model& model) {
  std::vector<std::string> files = model.vocabularies;
  files.insert(files.end(), model.splitters.begin(), model.splitters.end());
  return files;
}

void check_same_vocabularies(const EnsembleMember& a, const EnsembleMember& b) {
  if (a.model.splitters.empty() != b.model.splitters.empty())
    throw Error(fmt::format(
        "{} and {}: one of the two has files that split its text; models of an ensemble must read "
        "the same words",
        a.where, b.where));
  const std::vector<std::string> known = text_files(a.model);
  const std::vector<std::string> other = text_files(b.model);
  for (std::size_t i = 0; i < known.size() && i < other.size(); ++i)
    if (known[i] != other[i] && read_file(known[i]) != read_file(other[i]))
      throw Error(fmt::format(
          "{} and {}, vocabularies of {} and {}, differ; models of an ensemble must share their "
          "vocabularies, or be given a source and a target vocabulary",
          known[i], other[i], a.where, b.where));
}

void check_fit(const EnsembleMember& first, const EnsembleMember& other) {
  if (first.model.right_left != other.model.right_left)
    throw Error(fmt::format(
        "{} works from {}, but {} from {}; models of an ensemble must share the direction",
        first.where, direction(first.model), other.where, direction(other.model)));
  check_same_words("source", first, source_words(first.model.graph), other,
                   source_words(other.model.graph));
  check_same_words("target", first, scores_of(first.model.graph).words, other,
                   scores_of(other.model.graph).words);
}

/// Adds the settings for decoding of a member. Throws Error if an earlier one has others.
void add_decode(const std::vector<EnsembleMember>& members, const EnsembleMember& member,
                DecodeDefaults& decode) {
  for (const std::string_view key : add_decode_defaults(decode, member.model.decode)) {
    const auto first =
        std::find_if(members.begin(), members.end(), [&](const EnsembleMember& earlier) {
          return decode_text(earlier.model.decode, key).has_value();
        });
    throw Error(fmt::format(
        "{} has {} for {}, but {} has {}; members of an ensemble must agree, or leave it to the "
        "ensemble",
        first->where, *decode_text(decode, key), key, member.where,
        *decode_text(member.model.decode, key)));
  }
}

/// A model with the properties that the members share. Throws Error if members do not match.
Model common_model(const std::vector<EnsembleMember>& members) {
  const EnsembleMember* with_vocabularies = nullptr;
  Model model;
  for (const EnsembleMember& member : members) {
    if (!std::isfinite(member.weight))
      throw Error(fmt::format("the weight of {} is {}; it must be a finite number", member.where,
                              member.weight));
    check_fit(members.front(), member);
    add_decode(members, member, model.decode);
    if (member.model.vocabularies.empty()) continue;
    if (with_vocabularies == nullptr) with_vocabularies = &member;
    check_same_vocabularies(*with_vocabularies, member);
  }
  if (with_vocabularies != nullptr) {
    model.vocabularies = with_vocabularies->model.vocabularies;
    model.splitters = with_vocabularies->model.splitters;
    model.text = with_vocabularies->model.text;
    model.vocabulary_digests = with_vocabularies->model.vocabulary_digests;
  }
  for (const EnsembleMember& member : members)
    model.notes.insert(model.notes.end(), member.model.notes.begin(), member.model.notes.end());
  model.right_left = members.front().model.right_left;
  model.format = fmt::format("ensemble of {} models", members.size());
  for (const EnsembleMember& member : members) {
    if (member.model.architecture.empty()) continue;
    if (!model.architecture.empty()) model.architecture += " + ";
    model.architecture += member.model.architecture;
  }
  return model;
}

std::string joined_names(const std::vector<EnsembleMember>& members) {
  std::string names;
  for (const EnsembleMember& member : members) {
    if (!names.empty()) names += " + ";
    names += member.model.graph.name();
  }
  return names;
}

}  // namespace

Model make_ensemble(std::vector<EnsembleMember> members) {
  check(!members.empty(), "an ensemble without models");
  Model ensemble = common_model(members);
  Builder builder(joined_names(members));
  Expr sum;
  std::vector<Expr> log_probs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Model& member = members[i].model;
    const std::string prefix = fmt::format("{}.", i);
    const std::vector<ValueId> values = append_graph(builder.graph(), member.graph, prefix);
    const ModelScores scores = scores_of(member.graph);
    Expr score(&builder, values.at(scores.value.index));
    if (!scores.log_probs) score = log_softmax(score).named(prefix + "log_probs");
    log_probs.push_back(score);
    if (members[i].weight != 1) score = score * members[i].weight;
    sum = sum.valid() ? sum + score : score;
    for (auto& [name, tensor] : member.weights)
      ensemble.weights.emplace(prefix + name, std::move(tensor));
    if (const ValueId alignment = member.graph.find_output("alignment");
        i == 0 && alignment.valid())
      builder.graph().add_output("alignment", values.at(alignment.index));
  }
  builder.output("log_probs", sum.named("log_probs"));
  for (std::size_t i = 0; i < log_probs.size(); ++i)
    builder.output(fmt::format("log_probs.{}", i), log_probs[i]);
  ensemble.graph = builder.take();
  return ensemble;
}

Model join_models(std::vector<EnsembleMember> members) {
  if (members.size() == 1 && members[0].weight == 1) return std::move(members[0].model);
  return make_ensemble(std::move(members));
}

}  // namespace fuselage
