#include "fuselage/decoding/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "decoding/lines/line_encoder.h"
#include "decoding/probe_model.h"
#include "decoding/random_lines.h"
#include "decoding/resolve_options.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/decoding/score_summary.h"
#include "fuselage/decoding/scorer.h"
#include "models/architectures/scores.h"

namespace fuselage {
namespace {

constexpr std::size_t kRandomLines = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Lines and words of the comparison of nodes, which the interpreter runs too.
constexpr std::size_t kBisectedLines = 3, kBisectedSteps = 8;

/// Whether the stored graph rounds what it computes, as calibrated models do.
bool quantizes_itself(const Graph& graph) {
  for (const NodeId id : graph.nodes())
    if (graph.binding(id) != BindingTime::load)
      for (const ValueId result : graph.node(id).results)
        if (is_quantized(graph.value(result).type.dtype)) return true;
  return false;
}

/// The largest mean drift by products in a precision, about ten times what was measured.
double drift_by(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::stored:  // by the types of the weights
      return 0;
    case Precision::int16:
      return 0.01;
    case Precision::fp16:
    case Precision::bf16:
      return 0.05;
    case Precision::int8:
      return 0.2;
    case Precision::int4:
    case Precision::int4_log:
      break;
  }
  return 2;
}

/// The precision whose roundings a stored weight has.
Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return Precision::bf16;
    case DType::qint16:
      return Precision::int16;
    case DType::qint8:
      return Precision::int8;
    case DType::qlog4:
      return Precision::int4;
    default:
      return Precision::fp32;
  }
}

CompileOptions with_values_of(const Model& model, const CompileOptions& compile) {
  return resolved(ScorerOptions{.compile = compile}, model).compile;
}

/// The lines and words of probes, which must be those of the model.
struct Stored {
  std::vector<std::string> lines;
  std::vector<WordIds> words;

  explicit Stored(const Model& model, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (model.probes.lines.empty())
      throw Error(fmt::format(
          "the model {} has no probe sentences; convert it again, or give lines to make them of",
          model.graph.name()));
    const std::int64_t count = scores_of(model.graph).words;
    for (const Probe& probe : model.probes.lines) {
      if (lines.size() == most) break;
      for (const std::int32_t word : probe.words)
        if (word < 0 || word >= count)
          throw Error(fmt::format(
              "probe sentence {} has the word {}, but the model has {} words; the probe sentences "
              "are of another model",
              lines.size() + 1, word, count));
      lines.push_back(probe.line);
      words.push_back(probe.words);
    }
  }
};

/// How far the score of a model's own word is above that of the stored word in its place.
double lead_of(const Hypothesis& own, const Probe& stored, std::span<const float> scores) {
  if (own.words == stored.words) return 0;
  const auto [mine, its] = std::ranges::mismatch(own.words, stored.words);
  if (mine == own.words.end() || its == stored.words.end()) return kInfinity;
  const auto at = static_cast<std::size_t>(mine - own.words.begin());
  return static_cast<double>(own.word_scores[at]) - static_cast<double>(scores[at]);
}

ProbeCheck check_probe(const Hypothesis& own, const Probe& stored, std::span<const float> scores) {
  ProbeCheck check{.same_words = own.words == stored.words, .lead = lead_of(own, stored, scores)};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double drift =
        std::abs(static_cast<double>(scores[i]) - static_cast<double>(stored.scores[i]));
    check.largest_drift = std::max(check.largest_drift, drift);
    check.mean_drift += drift / static_cast<double>(scores.size());
  }
  return check;
}

}  // namespace

CheckLimits check_limits(const Model& model, const CompileOptions& compile) {
  double drift = drift_by(*compile.precision);
  // Rational functions, tables, TF32 and halves of weights round as little as 16 bits do.
  if (*compile.activations != Activations::exact || compile.cuda.tf32 || model.probes.rounded)
    drift = std::max(drift, drift_by(Precision::bf16));
  if (compile.kv_cache == KvCache::int8) drift = std::max(drift, drift_by(Precision::int8));
  if (quantizes_itself(model.graph)) drift = std::max(drift, drift_by(Precision::int8));
  // In fp32 the numbers that stored integers stand for are used as they are.
  if (model.probes.rounded || *compile.precision != Precision::fp32)
    for (const auto& [name, tensor] : model.weights)
      drift = std::max(drift, drift_by(precision_of(tensor.dtype())));
  constexpr double kOrderOfOperations = 1e-3;
  if (drift == 0) return {kOrderOfOperations, kOrderOfOperations, 2 * kOrderOfOperations};
  return {kInfinity, drift, kInfinity};
}

Probes make_probes(const Model& model, std::vector<std::string> lines,
                   const VocabularyPairOptions& vocabularies) {
  if (lines.size() > kMaxProbeLines)
    throw Error(
        fmt::format("there are {} probe sentences; give at most {}", lines.size(), kMaxProbeLines));
  // Precomputed tables take longer to make than they save here.
  const ProbeModel runner(model, vocabularies,
                          {.precision = Precision::fp32,
                           .activations = Activations::exact,
                           .kv_cache = KvCache::fp32,
                           .precompute_memory = 0});
  Probes probes;
  if (lines.empty()) lines = random_lines(runner.vocabularies(), kRandomLines);
  for (std::string& line : lines) line = valid_text(line);
  std::vector<Hypothesis> found = runner.translate(runner.encode(lines));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string text = valid_text(runner.vocabularies().target->decode(found[i].words));
    probes.lines.push_back({std::move(lines[i]), std::move(found[i].words),
                            std::move(found[i].word_scores), std::move(text)});
  }
  return probes;
}

double gain_from_source(const Model& model, const std::vector<std::string>& sources,
                        const std::vector<std::string>& translations,
                        const VocabularyPairOptions& vocabularies) {
  if (sources.size() < 2)
    throw Error(fmt::format(
        "there {} source line; give two or more, so that each can take the place of another",
        sources.empty() ? "is no" : "is one"));
  const Scorer scorer(model, {.vocabularies = vocabularies,
                              .compile = {.precision = Precision::fp32,
                                          .activations = Activations::exact,
                                          .kv_cache = KvCache::fp32,
                                          .precompute_memory = 0}});
  const auto mean = [&](const std::vector<std::string>& read) {
    ScoreTotals totals;
    for (const PairScore& score : scorer.score(read, translations)) totals.add(score);
    return -totals.summary(ScoreSummary::ce_mean_words);
  };
  std::vector<std::string> others = sources;
  std::rotate(others.begin(), others.begin() + 1, others.end());
  return mean(sources) - mean(others);
}

std::size_t CheckResult::same_words() const {
  return static_cast<std::size_t>(std::ranges::count(probes, true, &ProbeCheck::same_words));
}

std::vector<std::string> CheckResult::failures() const {
  std::vector<std::string> failures;
  if (!(largest_drift <= limits.largest_drift))
    failures.push_back(fmt::format("the score of a word drifts by {:.3g}, more than {:g}",
                                   largest_drift, limits.largest_drift));
  if (!(mean_drift <= limits.mean_drift))
    failures.push_back(fmt::format("the scores of words drift by {:.3g} on average, more than {:g}",
                                   mean_drift, limits.mean_drift));
  if (const auto other = std::ranges::find(probes, false, &ProbeCheck::same_text);
      other != probes.end())
    failures.push_back(
        fmt::format("the words of probe sentence {} stand for another text; the target vocabulary "
                    "is another one",
                    other - probes.begin() + 1));
  const auto beyond = std::ranges::find_if(
      probes, [&](const ProbeCheck& probe) { return !(probe.lead <= limits.tie); });
  if (beyond != probes.end())
    failures.push_back(fmt::format("probe sentence {} has other words, and no tie explains it",
                                   beyond - probes.begin() + 1));
  return failures;
}

CheckResult check_probes(const Model& model, const CheckOptions& options) {
  const Stored stored(model);
  CheckResult result{.compile = with_values_of(model, options.compile), .limits = {}};
  result.limits = check_limits(model, result.compile);
  const ProbeModel runner(model, options.vocabularies, result.compile);
  const std::vector<EncodedLine> lines = runner.encode(stored.lines);
  const std::vector<Hypothesis> own = runner.translate(lines);
  const std::vector<std::vector<float>> scores = runner.score(lines, stored.words);
  double words = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Probe& known = model.probes.lines[i];
    ProbeCheck& probe = result.probes.emplace_back(check_probe(own[i], known, scores[i]));
    probe.same_text = valid_text(runner.vocabularies().target->decode(known.words)) == known.text;
    const auto count = static_cast<double>(scores[i].size());
    result.mean_drift += probe.mean_drift * count;
    result.largest_drift = std::max(result.largest_drift, probe.largest_drift);
    words += count;
  }
  result.mean_drift /= words;
  return result;
}

std::vector<Precision> precisions_to_check(const Model& model) {
  const Precision own = model.decode.precision.value_or(Precision::fp32);
  const bool has_floats = std::ranges::all_of(
      model.weights, [](const auto& weight) { return weight.second.dtype() == DType::f32; });
  if (own == Precision::fp32 || !has_floats) return {own};
  return {Precision::fp32, own};
}

Bisection bisect_probes(const Model& model, const CheckOptions& options,
                        const NodeTolerances& tolerances) {
  const Stored stored(model, kBisectedLines);
  const CompileOptions compile = with_values_of(model, options.compile);
  const ProbeModel runner(model, options.vocabularies, compile);
  const std::vector<EncodedLine> lines = runner.encode(stored.lines);
  const auto compare = [&](std::size_t steps) {
    return Bisection{compare_with_reference(runner.scoring_graph(), model.weights, compile,
                                            runner.inputs(lines, stored.words, steps), tolerances),
                     steps};
  };
  Bisection found = compare(kBisectedSteps);
  // A difference may reach a node that comes before its cause, but only in the next step.
  for (std::size_t equal = 0; found.comparison.difference && found.steps - equal > 1;) {
    Bisection half = compare((equal + found.steps) / 2);
    if (half.comparison.difference)
      found = std::move(half);
    else
      equal = half.steps;
  }
  return found;
}

}  // namespace fuselage
