#include "models/marian/unused_options.h"

#include <algorithm>
#include <iterator>

namespace fuselage {
namespace {

/// Options of marian-decoder, marian-scorer and their configuration files that have no counterpart
/// here.
constexpr std::string_view kNotSupported[] = {"alignment-format",
                                              "authors",
                                              "best-deep",
                                              "build-info",
                                              "cite",
                                              "compute-type",
                                              "devices",
                                              "dump-config",
                                              "dump-quantmult",
                                              "factors-combine",
                                              "factor-weight",
                                              "feature",
                                              "force-decode",
                                              "fp16",
                                              "gemm-type",
                                              "ignore-model-config",
                                              "input-types",
                                              "interpolate-env-vars",
                                              "n-best",
                                              "n-best-feature",
                                              "num-devices",
                                              "optimize",
                                              "output-approx-knn",
                                              "output-omit-bias",
                                              "output-sampling",
                                              "port",
                                              "quantize-range",
                                              "shortlist",
                                              "skip-cost",
                                              "summary",
                                              "train-sets",
                                              "tsv",
                                              "tsv-fields",
                                              "type",
                                              "weights"};

/// Options of marian-decoder and of Bergamot's translator that Fuselage does not need: they concern
/// memory, logs, and how a text becomes lines and batches.
constexpr MarianOption kWithoutEffect[] = {
    {"sigterm"},
    {"no-nccl", '\0', true},
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
    {"use-legacy-batching", '\0', true},
};

}  // namespace

bool known_to_marian(std::string_view name) {
  return std::find(std::begin(kNotSupported), std::end(kNotSupported), name) !=
         std::end(kNotSupported);
}

std::span<const MarianOption> options_without_effect() { return kWithoutEffect; }

}  // namespace fuselage
