// With products of integers and any activations, translations have the same bytes at every
// instruction-set level.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "fuselage/passes/precision/quantize.h"
#include "models/quantized/quantize_model.h"
#include "tests/decoding/support.h"

namespace fuselage::canonical_test {
namespace {

struct Case {
  std::string model;
  Precision precision;
  int beam;
  Activations activations = Activations::exact;
  KvCache kv_cache = KvCache::fp32;
};

/// Embeddings in 8 bits, recurrent and self-attention matrices in 16, and others in 3.
MatrixStorage storage_of(const std::string& name) {
  if (name.starts_with("Wemb")) return {.quantizer = weight_quantizer(Precision::int8)};
  if (name.find("_U") != std::string::npos || name.find("self") != std::string::npos)
    return {.quantizer = weight_quantizer(Precision::int16)};
  Quantizer quantizer = weight_quantizer(Precision::int4);
  quantizer.bits = 3;
  return {.quantizer = quantizer};
}

class Canonical : public ::testing::TestWithParam<Case> {
 protected:
  Canonical() {
    const std::string data = FUSELAGE_TEST_DATA;
    if (GetParam().model == "en-de") {
      model_ = std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de";
      lines_ = {"Where is the nearest station?",
                "I don't know whether he will come, but if he does, I will ask him about the two.",
                "",
                "Yes.",
                "She has been living in a small house by the sea for more than twenty years.",
                "The café opens at 9:30 – doesn't it?"};
      return;
    }
    model_ = data + "/" + GetParam().model + "/model.npz";
    options_.vocabularies.paths = support::vocabularies();
    std::ifstream stream(data + "/" + GetParam().model + "/input.sp.en");
    for (std::string line; lines_.size() < 6 && std::getline(stream, line);) lines_.push_back(line);
  }
  ~Canonical() override { cpu::force_isa(cpu::supported_isas().back()); }

  std::vector<Translation> translate() const {
    Model model = load_model(model_);
    if (GetParam().precision == Precision::stored) store_matrices(model, storage_of);
    return Translator(std::move(model), options_).translate(lines_);
  }

  std::string model_;
  std::vector<std::string> lines_;
  TranslatorOptions options_{.beam_size = GetParam().beam,
                             .normalize = 0.6f,
                             .max_length_factor = 2,
                             .alignment = true,
                             .compile = {.precision = GetParam().precision,
                                         .activations = GetParam().activations,
                                         .kv_cache = GetParam().kv_cache}};
};

/// Equal floats are equal bits: there are neither NaNs nor negative zeros among scores.
void expect_same(const TranslatedText& got, const TranslatedText& want) {
  EXPECT_EQ(got.text, want.text);
  EXPECT_EQ(got.hypothesis.words, want.hypothesis.words);
  EXPECT_EQ(got.hypothesis.word_scores, want.hypothesis.word_scores);
  EXPECT_EQ(got.hypothesis.log_probability, want.hypothesis.log_probability);
  EXPECT_EQ(got.hypothesis.score, want.hypothesis.score);
  EXPECT_EQ(got.hypothesis.alignment, want.hypothesis.alignment);
}

TEST_P(Canonical, TranslationsHaveTheSameBytesAtEveryLevel) {
  const std::vector<std::string> isas = cpu::supported_isas();
  cpu::force_isa(isas.front());
  const std::vector<Translation> want = translate();
  ASSERT_EQ(want.size(), lines_.size());
  ASSERT_GT(want[0].n_best[0].hypothesis.words.size(), 2u) << "nothing was translated";
  // At each further level by another number of threads, which must not matter either.
  for (std::size_t level = 1; level < isas.size(); ++level) {
    options_.compile.threads_per_sentence = 1 + level % 3;
    SCOPED_TRACE(::testing::Message() << isas[level] << ", " << 1 + level % 3 << " threads");
    cpu::force_isa(isas[level]);
    const std::vector<Translation> got = translate();
    for (std::size_t line = 0; line < want.size(); ++line) {
      ASSERT_EQ(got[line].n_best.size(), want[line].n_best.size());
      for (std::size_t h = 0; h < want[line].n_best.size(); ++h)
        expect_same(got[line].n_best[h], want[line].n_best[h]);
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const char* model : {"en-de", "nematus", "transformer-post", "transformer-ssru"})
    for (const auto& [precision, beam] : {std::pair{Precision::int8, 1},
                                          {Precision::int8, 6},
                                          {Precision::int16, 1},
                                          {Precision::int16, 6},
                                          {Precision::int4, 6},
                                          {Precision::int4_log, 6},
                                          {Precision::stored, 6}})
      cases.push_back({model, precision, beam});
  for (const char* model : {"en-de", "nematus"})
    for (const Activations activations : {Activations::fast, Activations::table})
      cases.push_back({model, Precision::int8, 6, activations});
  for (const char* model : {"transformer-post", "transformer-ssru"})
    for (const int beam : {1, 6})
      cases.push_back({model, Precision::int8, beam, Activations::exact, KvCache::int8});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, Canonical, ::testing::ValuesIn(cases()), [](const auto& test) {
  const Case& param = test.param;
  std::string name =
      fmt::format("{}_{}_beam_{}", param.model, to_string(param.precision), param.beam);
  if (param.activations != Activations::exact)
    name += fmt::format("_{}", to_string(param.activations));
  if (param.kv_cache != KvCache::fp32) name += fmt::format("_{}_keys", to_string(param.kv_cache));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace fuselage::canonical_test
