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
                                              "cache-size",
                                              "check-nan",
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
                                              "gemm-precision",
                                              "gemm-type",
                                              "ignore-model-config",
                                              "input-types",
                                              "int8",
                                              "int8Alpha",
                                              "int8shift",
                                              "int8shiftAlpha",
                                              "int8shiftAll",
                                              "int8shiftAlphaAll",
                                              "int16",
                                              "interpolate-env-vars",
                                              "log",
                                              "max-length-break",
                                              "mini-batch-fit",
                                              "mini-batch-round-up",
                                              "model-mmap",
                                              "n-best",
                                              "n-best-feature",
                                              "num-devices",
                                              "optimize",
                                              "output-approx-knn",
                                              "output-omit-bias",
                                              "output-sampling",
                                              "port",
                                              "quality",
                                              "quantize-range",
                                              "shortlist",
                                              "shuffle-in-ram",
                                              "skip-cost",
                                              "ssplit-mode",
                                              "ssplit-prefix-file",
                                              "stat-freq",
                                              "summary",
                                              "throttle",
                                              "train-sets",
                                              "tsv",
                                              "tsv-fields",
                                              "type",
                                              "use-legacy-batching",
                                              "weights"};

/// Options of marian-decoder that Fuselage does not need.
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
};

}  // namespace

bool known_to_marian(std::string_view name) {
  return std::find(std::begin(kNotSupported), std::end(kNotSupported), name) !=
         std::end(kNotSupported);
}

std::span<const MarianOption> options_without_effect() { return kWithoutEffect; }

}  // namespace fuselage
