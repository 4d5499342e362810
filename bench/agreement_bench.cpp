// How often a model in another precision chooses the same next word as in float32 when both are run
// on the same translations (teacher forcing).
//
//   agreement_bench MODEL SOURCE REFERENCE CONTESTANT…
//
// SOURCE and REFERENCE have a sentence per line. The model is run on its own translations of SOURCE
// in float32, beam 6, and on REFERENCE. A contestant is a precision that may be followed by
// activations and a type of keys and values: int8, int8:table, fp32:kv-int8. The loss of a MODEL
// that is stored in integers is not counted: its float32 products use the dequantized weights.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/replay.h"
#include "bench/trace.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/search/forced_decoder.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

constexpr std::size_t kBatch = 32;

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream input(path);
  if (!input) throw Error(fmt::format("{}: cannot be read", path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

struct Pairs {
  std::vector<WordIds> sources, targets;
};

std::vector<WordIds> encode_all(const Vocabulary& vocabulary,
                                const std::vector<std::string>& lines) {
  std::vector<WordIds> encoded;
  for (const std::string& line : lines) encoded.push_back(vocabulary.encode(line));
  return encoded;
}

/// The model's translations of the lines in float32.
std::vector<WordIds> translate_all(const Model& model, const std::vector<std::string>& lines) {
  const TranslatorOptions options{
      .beam_size = 6,
      .normalize = 0.6f,
      .batches = {.mini_batch = kBatch, .maxi_batch = 100, .maxi_batch_sort = MaxiBatchSort::src},
      .compile = {.precision = Precision::fp32}};
  std::vector<WordIds> words;
  for (const Translation& translation : Translator(model, options).translate(lines))
    words.push_back(translation.n_best.front().hypothesis.words);
  return words;
}

/// The steps of a forced decoding of the targets.
Trace record_forced(const Model& model, const Pairs& pairs) {
  Trace trace;
  const auto executable = recording(
      compile(with_search_head(model.graph, SearchHead::log_probabilities), model.weights), trace);
  ForcedDecoder decoder(*executable, /*alignment=*/false);
  const std::span<const WordIds> sources(pairs.sources), targets(pairs.targets);
  for (std::size_t i = 0; i < sources.size(); i += kBatch) {
    const std::size_t n = std::min(kBatch, sources.size() - i);
    decoder.score(sources.subspan(i, n), targets.subspan(i, n));
  }
  return trace;
}

/// The best word of a model at each position.
std::vector<std::int32_t> choices(const Model& model, const Trace& trace,
                                  const CompileOptions& options) {
  Replay replay(std::string(to_string(*options.precision)),
                compile(with_search_head(model.graph, SearchHead::k_best, {.alignment = false}),
                        model.weights, options));
  Outputs outputs;
  replay.run(trace, &outputs);
  return outputs.words;
}

void compare_choices(const Model& model, const Pairs& pairs, const std::string& name,
                     std::span<const std::string> contestants) {
  const Trace trace = record_forced(model, pairs);
  const std::vector<std::int32_t> want = choices(model, trace, {});
  for (const std::string& contestant : contestants) {
    const std::vector<std::int32_t> got = choices(model, trace, numbers_from_string(contestant));
    std::size_t same = 0;
    for (std::size_t i = 0; i < want.size(); ++i) same += got[i] == want[i] ? 1 : 0;
    fmt::print("{:16} {:12} {:.3f} % of {} words, {} others\n", name, contestant,
               100 * static_cast<double>(same) / static_cast<double>(want.size()), want.size(),
               want.size() - same);
  }
}

void run(const std::vector<std::string>& arguments) {
  const Model model = load_model(arguments[0]);
  const std::vector<std::string> sources = read_lines(arguments[1]);
  const std::vector<std::string> references = read_lines(arguments[2]);
  if (sources.size() != references.size())
    throw Error(fmt::format("{} has {} lines, but {} has {}; both need the same number",
                            arguments[1], sources.size(), arguments[2], references.size()));
  const VocabularyPair vocabularies =
      load_vocabulary_pair(model, {.paths = model.vocabularies, .encode_target = true});
  const std::span<const std::string> contestants = std::span(arguments).subspan(3);
  Pairs pairs{.sources = encode_all(*vocabularies.source, sources)};
  pairs.targets = translate_all(model, sources);
  compare_choices(model, pairs, "own translations", contestants);
  pairs.targets = encode_all(*vocabularies.target, references);
  compare_choices(model, pairs, "references", contestants);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"agreement_bench", "MODEL SOURCE REFERENCE CONTESTANT...", 4,
       "How often a model in other numbers chooses the same next word as in float32."},
      argc, argv, fuselage::run);
}
