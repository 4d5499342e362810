#include "models/architectures/encoder_decoder.h"

#include <algorithm>
#include <map>

#include "fuselage/base/error.h"
#include "models/architectures/s2s.h"
#include "models/architectures/transformer.h"

namespace fuselage {

using enum MarianType::Part;

const std::vector<MarianType>& marian_types() {
  const std::vector<std::string> two = {"encoder1", "encoder2"};
  const std::vector<std::string> shared = {"encoder", "encoder"};
  static const std::vector<MarianType> types = {
      {"s2s", "Recurrent encoder-decoder with attention.", recurrent, recurrent},
      {"amun", "s2s with one layer of one cell on each side.", recurrent, recurrent},
      {"nematus", "s2s with the cells of Nematus.", recurrent, recurrent},
      {"transformer", "Transformer, whose decoder has self-attention, average attention or a cell.",
       transformer, transformer},
      {"transformer_s2s", "Transformer encoder, recurrent decoder.", transformer, recurrent},
      {"multi-s2s", "s2s with two source texts.", recurrent, recurrent, two},
      {"shared-multi-s2s", "s2s with two source texts and one encoder for both.", recurrent,
       recurrent, shared},
      {"multi-transformer", "Transformer with two source texts.", transformer, transformer, two},
      {"shared-multi-transformer", "Transformer with two source texts and one encoder for both.",
       transformer, transformer, shared},
      {"lm", "Recurrent language model: the decoder of s2s alone.", recurrent, recurrent, {}},
      {"lm-transformer",
       "Transformer language model: the decoder alone.",
       transformer,
       transformer,
       {}},
  };
  return types;
}

std::string_view why_not_supported(std::string_view type) {
  constexpr std::string_view kMetric = "it rates translations and does not make any";
  constexpr std::string_view kClassifier = "it classifies texts and does not translate them";
  constexpr std::string_view kHardAttention = "its decoder has hard attention";
  static const std::map<std::string_view, std::string_view> reasons = {
      {"char-s2s",
       "its encoder has convolutions over characters, which Marian itself runs only on "
       "GPUs with cuDNN"},
      {"transformer-new", "its layers have other parameters than those of transformer"},
      {"transformer-lm", "its layers have other parameters than those of lm-transformer"},
      {"hard-att", kHardAttention},
      {"hard-soft-att", kHardAttention},
      {"multi-hard-att", kHardAttention},
      {"multi-hard-soft-att", kHardAttention},
      {"laser", "it embeds texts and does not translate them"},
      {"laser-sim", kMetric},
      {"bert", kClassifier},
      {"bert-encoder", kClassifier},
      {"bert-classifier", kClassifier},
      {"bleurt", kMetric},
      {"comet", kMetric},
      {"comet-qe", kMetric},
      {"comet-score", kMetric},
      {"comet-unified", kMetric},
      {"comet-unite", kMetric},
      {"cometoid22-wmt", kMetric},
  };
  const auto found = reasons.find(type);
  return found == reasons.end() ? std::string_view() : found->second;
}

void build_encoder_decoder(Parameters& parameters, const MarianOptions& options) {
  const std::vector<MarianType>& types = marian_types();
  const auto type = std::find_if(types.begin(), types.end(), [&](const MarianType& candidate) {
    return candidate.name == options.type;
  });
  check(type != types.end(), "a type of Marian");
  for (const MarianType::Part part : {type->encoder, type->decoder})
    part == recurrent ? check_s2s(options) : check_transformer(options);

  Vocabularies vocabularies(
      parameters, options, type->encoders,
      type->decoder == recurrent ? "decoder_ff_logit_l2" : "decoder_ff_logit_out");
  const auto encode = type->encoder == recurrent ? s2s_encoder : transformer_encoder;
  std::vector<Expr> contexts;
  for (std::size_t i = 0; i < type->encoders.size(); ++i) {
    const Expr embedding = vocabularies.source_embedding(i);
    const Expr context = encode(parameters, options, type->encoders[i], i, embedding);
    contexts.push_back(context.named(numbered("context", i)));
  }
  const auto decode = type->decoder == recurrent ? s2s_decoder : transformer_decoder;
  decode(parameters, options, vocabularies, contexts);
}

}  // namespace fuselage
