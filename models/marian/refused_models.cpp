#include "models/marian/refused_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"

namespace fuselage {
namespace {

constexpr std::string_view kScores = "it scores translations and makes none";
constexpr std::string_view kLanguageModel =
    "it is a language model, and language models as scorers are not supported";
constexpr std::string_view kHardAttention = "its decoder has hard attention";
constexpr std::string_view kClassifier = "it classifies texts and translates none";

struct Refused {
  std::string_view type;
  std::string_view reason;
};

/// Types of Marian by their reasons. A registered architecture of such a name is not refused.
constexpr Refused kRefused[] = {
    {"lm", kLanguageModel},
    {"lm-transformer", kLanguageModel},
    {"transformer-lm", kLanguageModel},
    {"char-s2s", "its encoder has convolutions over characters"},
    {"hard-att", kHardAttention},
    {"hard-soft-att", kHardAttention},
    {"multi-hard-att", kHardAttention},
    {"multi-hard-soft-att", kHardAttention},
    {"bert", kClassifier},
    {"bert-encoder", kClassifier},
    {"bert-classifier", kClassifier},
    {"laser", "it embeds sentences and translates none"},
    {"laser-sim", kScores},
    {"comet", kScores},
    {"comet-qe", kScores},
    {"comet-score", kScores},
    {"comet-unite", kScores},
    {"bleurt", kScores},
    {"cometoid22-wmt", kScores},
};

bool is_off(const std::string& text) { return text.empty() || text == "0" || text == "false"; }

void refuse_type(const ModelOptions& options) {
  const std::string type = options.text("type", "amun");
  const auto* refused = std::find_if(std::begin(kRefused), std::end(kRefused),
                                     [&](const Refused& entry) { return entry.type == type; });
  if (refused == std::end(kRefused)) return;
  const std::vector<std::string> known = architecture_names();
  if (std::find(known.begin(), known.end(), type) != known.end()) return;
  throw Error(fmt::format("{}: a model of type {} is not supported: {}", options.where(),
                          in_quotes(type), refused->reason));
}

}  // namespace

void refuse_unsupported_model(const ModelOptions& options, const TensorMap& tensors) {
  refuse_type(options);
  for (const auto& [name, tensor] : tensors)
    if (name.find("->") != std::string::npos)
      throw Error(fmt::format(
          "{}: parameter {} is one of Marian's later layer framework (transformer-new), which is "
          "not supported",
          options.where(), in_quotes(name)));
  if (options.ignore_unknown()) return;
  for (const char* key : {"lemma-dim-emb", "lemma-dependency", "factors-dim-emb"})
    if (options.has(key))
      if (const std::string value = options.text(key); !is_off(value))
        throw Error(
            fmt::format("{}: {} is {}: the model has a factored vocabulary, which is not supported",
                        options.where(), key, in_quotes(value)));
  if (options.has("ulr") && !is_off(options.text("ulr")))
    throw Error(
        fmt::format("{}: ulr is {}: universal embeddings of several languages are not supported",
                    options.where(), in_quotes(options.text("ulr"))));
}

}  // namespace fuselage
