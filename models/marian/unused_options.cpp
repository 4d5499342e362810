#include "models/marian/unused_options.h"

#include <algorithm>
#include <iterator>

#include "models/architectures/marian_options.h"

namespace fuselage {
namespace {

struct NotSupported {
  std::string_view name;
  std::string_view reason;  ///< empty: none that a user would need
};

constexpr std::string_view kModelDecides =
    "the configuration in a model decides on its architecture";

/// Options of marian-decoder, marian-scorer and their configuration files that have no counterpart
/// here, besides those of models.
constexpr NotSupported kNotSupported[] = {
    {"alignment-format", ""},
    {"authors", ""},
    {"build-info", ""},
    {"cite", ""},
    {"compute-type", ""},
    {"devices", "name GPUs with device cuda:0,cuda:1"},
    {"dump-config", ""},
    {"dump-quantmult", "calibration is not supported"},
    {"encryption-key-path", "encrypted models are not supported"},
    {"factor-weight", "factored vocabularies are not supported"},
    {"feature", ""},
    {"fp16", "say precision fp16 for a GPU"},
    {"gemm-type", "the type of stored weights decides; precision says another"},
    {"ignore-model-config", kModelDecides},
    {"interpolate-env-vars", "paths have no variables; write them out"},
    {"n-best", ""},
    {"n-best-feature", ""},
    {"num-devices", ""},
    {"optimize", "precision int16 is in its place"},
    {"output-approx-knn", "the output layer is exact; a shortlist makes it smaller"},
    {"output-sampling", "words are given, and none is drawn"},
    {"port", ""},
    {"quantize-range", ""},
    {"shortlist", ""},
    {"skip-cost", ""},
    {"summary", ""},
    {"train-sets", ""},
    {"weights", ""}};

/// Options of Marian's models, up to version 1.12, that no architecture here knows by name.
constexpr std::string_view kModelOptions[] = {"alibi",
                                              "best-deep",
                                              "comet-augment-bad",
                                              "comet-dropout",
                                              "comet-final-sigmoid",
                                              "comet-mix",
                                              "comet-mix-norm",
                                              "comet-mix-transformation",
                                              "comet-mixup",
                                              "comet-mixup-reg",
                                              "comet-pool",
                                              "comet-pooler-ffn",
                                              "comet-prepend-zero",
                                              "comet-stop-grad",
                                              "comet-use-separator",
                                              "dec-high-context",
                                              "input-join-fields",
                                              "input-reorder",
                                              "ulr-softmax-temperature"};

/// Options of `marian`, which trains, that are of training alone (version 1.12), in the order of
/// the alphabet.
constexpr std::string_view kTrainingOptions[] = {
    "after",
    "after-batches",
    "after-epochs",
    "all-caps-every",
    "check-gradient-nan",
    "clip-norm",
    "cost-scaling",
    "cost-type",
    "custom-fallbacks",
    "data-weighting",
    "data-weighting-type",
    "disp-first",
    "disp-freq",
    "disp-label-counts",
    "disp-label-index",
    "dropout-rnn",
    "dropout-src",
    "dropout-trg",
    "dynamic-gradient-scaling",
    "early-stopping-epsilon",
    "early-stopping-on",
    "embedding-fix-src",
    "embedding-fix-trg",
    "embedding-normalization",
    "embedding-vectors",
    "english-title-case-every",
    "exponential-smoothing",
    "gradient-checkpointing",
    "gradient-norm-average-window",
    "guided-alignment",
    "guided-alignment-cost",
    "guided-alignment-weight",
    "keep-best",
    "label-smoothing",
    "learn-rate",
    "logical-epoch",
    "lr-decay",
    "lr-decay-freq",
    "lr-decay-inv-sqrt",
    "lr-decay-repeat-warmup",
    "lr-decay-reset-optimizer",
    "lr-decay-start",
    "lr-decay-strategy",
    "lr-report",
    "lr-warmup",
    "lr-warmup-at-reload",
    "lr-warmup-cycle",
    "lr-warmup-start-rate",
    "mini-batch-fit-step",
    "mini-batch-track-lr",
    "mini-batch-warmup",
    "mini-batch-words-ref",
    "multi-loss-type",
    "no-restore-corpus",
    "no-shuffle",
    "normalize-gradient",
    "optimizer",
    "optimizer-delay",
    "optimizer-params",
    "overwrite",
    "overwrite-checkpoint",
    "pretrained-model",
    "quantize-biases",
    "quantize-bits",
    "quantize-log-based",
    "quantize-optimization-steps",
    "save-freq",
    "sentencepiece-alphas",
    "sentencepiece-max-lines",
    "sentencepiece-options",
    "sharding",
    "shuffle",
    "sqlite",
    "sqlite-drop",
    "sync-freq",
    "sync-sgd",
    "tempdir",
    "throw-on-divergence",
    "train-embedder-rank",
    "transformer-dropout",
    "transformer-dropout-attention",
    "transformer-dropout-ffn",
    "unlikelihood-loss",
    "valid-freq",
    "valid-log",
    "valid-max-length",
    "valid-metrics",
    "valid-mini-batch",
    "valid-reset-all",
    "valid-reset-stalled",
    "valid-script-args",
    "valid-script-path",
    "valid-sets",
    "valid-translation-output",
};

/// Options of marian-decoder and of Bergamot's translator that Fuselage does not need: they concern
/// memory, logs, and how a text becomes lines and batches.
constexpr MarianOption kWithoutEffect[] = {
    {"sigterm"},
    {"no-nccl", '\0', true},
    {"no-reload", '\0', true},
    {"workspace", 'w'},
    {"quiet-translation", '\0', true},
    {"data-threads"},
    {"seed"},
    {"log-level"},
    {"log-time-zone"},
    {"relative-paths", '\0', true},
    {"bergamot-mode"},
    {"cache-mutex-buckets"},
    {"cache-size"},
    {"check-nan", '\0', true},
    {"log"},
    {"max-length-break"},
    {"mini-batch-fit", '\0', true},
    {"mini-batch-round-up", '\0', true},
    {"model-mmap", '\0', true},
    {"quality"},
    {"shuffle-in-ram", '\0', true},
    {"ssplit-mode"},
    {"ssplit-prefix-file"},
    {"stat-freq"},
    {"throttle"},
    {"tsv", '\0', true},  // fields are read where they are needed; translate has its own
    {"tsv-fields"},
    {"use-legacy-batching", '\0', true},
};

const NotSupported* find_not_supported(std::string_view name) {
  const auto* found = std::find_if(std::begin(kNotSupported), std::end(kNotSupported),
                                   [&](const NotSupported& option) { return option.name == name; });
  return found == std::end(kNotSupported) ? nullptr : found;
}

}  // namespace

bool known_to_marian(std::string_view name) {
  return find_not_supported(name) != nullptr || decided_by_model(name);
}

bool is_for_training(std::string_view name) {
  return std::ranges::binary_search(kTrainingOptions, name);
}

bool decided_by_model(std::string_view name) {
  return std::find(std::begin(kModelOptions), std::end(kModelOptions), name) !=
             std::end(kModelOptions) ||
         is_marian_model_option(name);
}

std::string_view reason_against(std::string_view name) {
  if (decided_by_model(name)) return kModelDecides;
  const NotSupported* option = find_not_supported(name);
  return option == nullptr ? "" : option->reason;
}

std::span<const MarianOption> options_without_effect() { return kWithoutEffect; }

}  // namespace fuselage
