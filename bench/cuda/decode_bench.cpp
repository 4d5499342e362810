// The gain of the CUDA back-end's searches by batching, captured steps, fewer live rows, narrower
// numbers, fusion, cuDNN's recurrent layers and rounded results: ratios in one run. See
// docs/benchmarks/README.md.
//
//   cuda_decode_bench [pairs]
//
// The model has random weights and the sizes of Amun's models (WNMT 2018): states of 1024, a
// vocabulary of 30,000. A second model is a transformer of the shape of opus-mt.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/cudnn.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/architectures/architecture.h"

namespace fuselage {
namespace {

constexpr std::int32_t kLength = 20;   ///< words of a sentence, and of its translation
constexpr std::int32_t kWords = 8000;  ///< distinct words of sentences

/// A conditional GRU with the sizes of Amun's models.
Model model() {
  return build_random_model("rnn-stack",
                            {{"dim-vocabs", "[30000, 30000]"},
                             {"dim-emb", "512"},
                             {"encoder", "[bi-gru 1024]"},
                             {"decoder", "[gru+gru 1024]"},
                             {"readout", "512"}},
                            1);
}

/// A transformer of the shape of opus-mt.
Model transformer() {
  return build_random_model("transformer",
                            {{"dim-vocabs", "[58101, 58101]"},
                             {"dim-emb", "512"},
                             {"enc-depth", "6"},
                             {"dec-depth", "6"},
                             {"transformer-heads", "8"},
                             {"transformer-dim-ffn", "2048"},
                             {"transformer-ffn-activation", "swish"},
                             {"transformer-postprocess", "dan"},
                             {"tied-embeddings-all", "true"}},
                            1);
}

/// Sentences of uniformly drawn words.
std::vector<WordIds> sentences(const std::vector<std::int32_t>& lengths) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int32_t> word(2, kWords - 1);
  std::vector<WordIds> batch;
  for (const std::int32_t length : lengths) {
    WordIds& sentence = batch.emplace_back();
    for (std::int32_t i = 0; i + 1 < length; ++i) sentence.push_back(word(random));
    sentence.push_back(0);
  }
  return batch;
}

std::vector<WordIds> sentences(std::size_t count) {
  return sentences(std::vector<std::int32_t>(count, kLength));
}

/// The length of translations.
enum class Words : std::uint8_t { as_source, one };

/// A model on the GPU that translates each sentence to as many words as the sentence has, or to
/// one.
class Contestant {
 public:
  Contestant(const Graph& graph, const TensorMap& weights, const CompileOptions& options,
             Words words = Words::as_source)
      : words_(words),
        options_({.beam_size = 1,
                  .max_length_factor = words == Words::one ? 0.01f : 1.0f,
                  .end_id = 0,
                  .suppressed = {0}}),
        executable_(compile(
            with_search_head(graph, SearchHead::k_best,
                             {.k = BeamSearch::candidates_per_row(options_), .alignment = false}),
            weights, options)),
        search_(*executable_, options_) {}

  void run(const std::vector<WordIds>& batch) {
    const std::vector<NBest> results = search_.search(batch);
    for (std::size_t s = 0; s < batch.size(); ++s)
      check(results[s].at(0).words.size() == (words_ == Words::one ? 1 : batch[s].size()),
            "a translation is as long as was asked for");
  }

 private:
  Words words_;
  SearchOptions options_;
  std::unique_ptr<Executable> executable_;
  BeamSearch search_;
};

void print(const std::string& what, const Comparison& compared) {
  fmt::print("{:44} {:9.3f} ms {:9.3f} ms  {:6.2f} [{:.2f}, {:.2f}]\n", what,
             1e3 * compared.baseline, 1e3 * compared.candidate, compared.ratio, compared.low,
             compared.high);
}

class Decoding {
 public:
  Decoding(Model model, int pairs)
      : graph_(std::move(model.graph)), weights_(std::move(model.weights)), pairs_(pairs) {}

  Contestant contestant(const CompileOptions& options, Words words = Words::as_source) const {
    return {graph_, weights_, options, words};
  }

  /// Both run each batch once before the measurement, to allocate memory and capture graphs.
  Comparison compare_on(Contestant& baseline, const std::vector<WordIds>& first,
                        Contestant& candidate, const std::vector<WordIds>& second) const {
    baseline.run(first);
    candidate.run(second);
    return compare(
        pairs_, [&] { baseline.run(first); }, [&] { candidate.run(second); }, now);
  }

  void compare_numbers(std::size_t batch) const {
    const auto text = sentences(batch);
    Contestant fp32 = contestant({.backend = "cuda"});
    Contestant tf32 = contestant({.backend = "cuda", .cuda = {.tf32 = true}});
    Contestant bf16 = contestant({.backend = "cuda", .precision = Precision::bf16});
    Contestant fp16 = contestant({.backend = "cuda", .precision = Precision::fp16});
    Contestant int8 = contestant({.backend = "cuda", .precision = Precision::int8});
    print(fmt::format("tf32 over fp32, batch {}", batch), compare_on(fp32, text, tf32, text));
    print(fmt::format("bf16 over fp32, batch {}", batch), compare_on(fp32, text, bf16, text));
    print(fmt::format("fp16 over fp32, batch {}", batch), compare_on(fp32, text, fp16, text));
    print(fmt::format("int8 over fp32, batch {}", batch), compare_on(fp32, text, int8, text));
  }

  void compare_fusion(std::size_t batch) const {
    const auto text = sentences(batch);
    Contestant apart = contestant({.backend = "cuda",
                                   .passes = "all,-fuse_output,-fuse_attention,-fuse_norm,"
                                             "-fuse_pointwise,-fuse_linear",
                                   .precision = Precision::bf16});
    Contestant fused = contestant({.backend = "cuda", .precision = Precision::bf16});
    print(fmt::format("fusions on over off, bf16, batch {}", batch),
          compare_on(apart, text, fused, text));
  }

  void compare_rounding(std::size_t batch) const {
    const auto text = sentences(batch);
    Contestant apart =
        contestant({.backend = "cuda", .passes = "all,-round_rows", .precision = Precision::bf16});
    Contestant fused = contestant({.backend = "cuda", .precision = Precision::bf16});
    print(fmt::format("rows rounded where computed, bf16, batch {}", batch),
          compare_on(apart, text, fused, text));
  }

  /// Loops of our kernels against cuDNN's layers: with a single decoder step, and in whole
  /// searches.
  void compare_encoders(std::size_t batch) const {
    const auto text = sentences(batch);
    for (const Words words : {Words::one, Words::as_source}) {
      Contestant loops = contestant({.backend = "cuda", .passes = "all,-fuse_recurrence"}, words);
      Contestant layers = contestant({.backend = "cuda"}, words);
      print(fmt::format("cuDNN's encoder over ours, {}, batch {}",
                        words == Words::one ? "one word" : "fp32", batch),
            compare_on(loops, text, layers, text));
    }
  }

  void compare_graphs() const {
    const auto text = sentences(1);
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      Contestant eager =
          contestant({.backend = "cuda", .precision = precision, .cuda = {.eager = true}});
      Contestant recorded = contestant({.backend = "cuda", .precision = precision});
      print(fmt::format("recorded steps over eager, {}, batch 1", to_string(precision)),
            compare_on(eager, text, recorded, text));
    }
  }

  void compare_batches() const {
    const auto one = sentences(1);
    Contestant bf16 = contestant({.backend = "cuda", .precision = Precision::bf16});
    for (const std::size_t batch : {8, 64, 256, 640, 1280, 2048, 4096}) {
      const auto text = sentences(batch);
      const Comparison compared = compare_on(bf16, one, bf16, text);
      fmt::print("batch {:5} {:10.0f} words/s, over batch 1 {:.1f}\n", batch,
                 static_cast<double>(batch) * kLength / compared.candidate,
                 static_cast<double>(batch) * compared.ratio);
    }
  }

  /// A shrinking batch: 15 of 16 sentences end after a quarter of the steps. If the time of a step
  /// were proportional to its rows, the ratio of times would equal the ratio of words.
  void compare_shrinking(std::size_t batch) const {
    std::vector<std::int32_t> lengths(batch, kLength);
    for (std::size_t s = 0; s < batch; ++s)
      if (s % 16 != 0) lengths[s] = kLength / 4;
    double words = 0;
    for (const std::int32_t length : lengths) words += length;
    Contestant bf16 = contestant({.backend = "cuda", .precision = Precision::bf16});
    print(fmt::format("batch {} that shrinks over one that does not", batch),
          compare_on(bf16, sentences(batch), bf16, sentences(lengths)));
    fmt::print("  words of the one over those of the other: {:.2f}\n",
               static_cast<double>(batch) * kLength / words);
  }

 private:
  Graph graph_;
  TensorMap weights_;
  int pairs_;
};

void run(const std::vector<std::string>& arguments) {
  const Decoding decoding(model(), arguments.empty() ? 15 : std::stoi(arguments[0]));
  decoding.compare_graphs();
  decoding.compare_batches();
  decoding.compare_shrinking(1280);
  for (const std::size_t batch : {64, 1280}) decoding.compare_numbers(batch);
  for (const std::size_t batch : {64, 1280}) decoding.compare_fusion(batch);
  if (!cuda::has_recurrent_layers())
    fmt::print("cuDNN's encoder is left out: there is no cuDNN\n");
  else
    for (const std::size_t batch : {1, 64, 1280}) decoding.compare_encoders(batch);
  const Decoding layers(transformer(), arguments.empty() ? 15 : std::stoi(arguments[0]));
  for (const std::size_t batch : {1, 64}) layers.compare_rounding(batch);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"cuda_decode_bench", "[pairs]", 0,
       "Searches on a GPU: batches, recorded steps, narrower numbers and fusion."},
      argc, argv, fuselage::run);
}
