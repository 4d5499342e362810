#include "tools/options/foreign_options.h"

#include <algorithm>
#include <iterator>

namespace fuselage {
namespace {

/// Arguments of ctranslate2.Translator and of its translate_batch, but those whose names are the
/// same here.
constexpr ForeignOption kForeignOptions[] = {
    {"batch-size", "mini-batch", "--mini-batch N"},
    {"batch-type", "mini-batch-words", "--mini-batch-words N for batches of so many words"},
    {"compute-type", "precision", "--precision FORMAT"},
    {"device-index", "device", "--device cuda:N"},
    {"inter-threads", "cpu-threads", "--cpu-threads N"},
    {"intra-threads", "cpu-threads",
     "--cpu-threads N, or --threads-per-sentence N for the time of a single sentence"},
    {"length-penalty", "normalize", "--normalize X"},
    {"max-batch-size", "mini-batch", "--mini-batch N"},
    {"max-decoding-length", "max-words", "--max-words N, or --max-length-factor X"},
    {"max-input-length", "max-length", "--max-length N"},
    {"min-decoding-length", "min-length", "--min-length N"},
    {"num-hypotheses", "n-best-size", "--n-best --n-best-size N"},
    {"prefix", "force-decode", "--force-decode, with the prefix behind a tab in each line"},
    {"read-batch-size", "maxi-batch", "--maxi-batch N"},
    {"return-attention", "alignment", "--alignment soft"},
    {"return-scores", "n-best", "--n-best, or --json, which print the scores"},
    {"sampling-temperature", "output-sampling",
     "--output-sampling topk K T, with the temperature T"},
    {"sampling-topk", "output-sampling", "--output-sampling topk K"},
    {"sampling-topp", "output-sampling", "--output-sampling nucleus P"},
    {"target-prefix", "force-decode", "--force-decode, with the prefix behind a tab in each line"},
    {"use-vmap", "shortlist", "--shortlist FILE"},
    {"with-scores", "n-best", "--n-best, or --json, which print the scores"},
};

}  // namespace

const ForeignOption* find_foreign_option(std::string_view name) {
  const auto* found = std::ranges::find(kForeignOptions, name, &ForeignOption::name);
  return found == std::end(kForeignOptions) ? nullptr : found;
}

}  // namespace fuselage
