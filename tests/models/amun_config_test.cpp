#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "models/marian/decoder_config.h"

namespace fuselage::amun_config_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

DecoderConfig read(const std::string& text) {
  return parse_decoder_config(text, "dir/config.yml", false);
}

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { read(text); }, ThrowsMessage<Error>(HasSubstr("dir/config.yml: " + message)))
      << text;
}

/// As published with the systems of the University of Edinburgh.
TEST(AmunConfig, IsUnderstood) {
  const DecoderConfig config = read(R"(
# Paths are relative to config file location
relative-paths: yes
# performance settings
beam-size: 12
devices: [0]
normalize: yes
gpu-threads: 1
cpu-threads: 4
mini-batch: 10
maxi-batch: 100
# scorer configuration
scorers:
  F0:
    path: model.ens1.npz
    type: Nematus
  F1: {path: model.ens2.npz, type: nematus2, tab: 0}
# scorer weights
weights:
  F1: 0.5
  F0: 1.0
source-vocab: [vocab.en.json]
target-vocab: vocab.de.json
bpe: ende.bpe
softmax-filter: [lex.s2t, 50, 20]
debpe: true
return-alignment: false
show-weights: false
allow-unk: no
n-best: false
)");
  EXPECT_THAT(config.models, ElementsAre("dir/model.ens1.npz", "dir/model.ens2.npz"));
  EXPECT_THAT(config.weights, ElementsAre(1.0, 0.5));
  EXPECT_THAT(config.vocabularies, ElementsAre("dir/vocab.en.json", "dir/vocab.de.json"));
  EXPECT_THAT(config.splitters, ElementsAre("dir/ende.bpe", "dir/ende.bpe"));
  EXPECT_EQ(config.shortlist.path, "dir/lex.s2t");
  EXPECT_EQ(config.shortlist.limits.first, 50);
  EXPECT_EQ(config.shortlist.limits.best, 20);
  EXPECT_EQ(config.decode.beam_size, 12);
  EXPECT_EQ(config.decode.normalize, 1.0f);
  EXPECT_EQ(config.decode.mini_batch, 10u);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(AmunConfig, HasTheDefaultsOfAmun) {
  const DecoderConfig config =
      read("scorers: {F0: {path: m.npz, type: Nematus}}\nsoftmax-filter: lex\n");
  EXPECT_EQ(config.decode.beam_size, 1);
  EXPECT_EQ(config.decode.normalize, 0.0f);
  // The end symbol counts here.
  EXPECT_EQ(config.decode.max_length, 201u);
  EXPECT_EQ(config.decode.max_length_factor, 2.0f);
  EXPECT_THAT(config.weights, ElementsAre(1.0));
  EXPECT_EQ(config.shortlist.limits.first, 10000);
  EXPECT_EQ(config.shortlist.limits.best, 1000);
  EXPECT_EQ(read("scorers: {F0: {path: m.npz}}\nmax-length: 50\nmax-length-multiple: 3\n")
                .decode.max_length,
            51u);
}

TEST(AmunConfig, RefusesWhatIsNotSupportedByName) {
  const std::string scorer = "scorers: {F0: {path: m.npz, type: Nematus}}\n";
  expect_refused("scorers: {F0: {path: m.npz}, LM: {path: lm.bin, type: KenLM}}",
                 "scorer 'LM' is a language model (KenLM)");
  expect_refused("scorers: {F0: {path: m.npz, type: Moses}}",
                 "scorer 'F0' has the type 'Moses', which is not supported");
  expect_refused("scorers: {F0: {path: m.npz, tab: 1}}", "scorer 'F0' reads another field");
  expect_refused("scorers: {F0: {type: Nematus}}", "scorer 'F0' has no path");
  expect_refused("scorers: {F0: m.npz}", "scorer 'F0' must be a mapping");
  for (const char* scorers : {"", "[]", "{}", "x"})
    expect_refused(std::string("scorers: ") + scorers + "\n", "'scorers' must be a mapping");
  expect_refused(scorer + "weights: {F1: 1}", "'weights' has no number for the scorer 'F0'");
  expect_refused(scorer + "weights: {F0: 1, F1: 1}", "'weights' has a number for 'F1'");
  expect_refused(scorer + "weights: {F0: [1]}", "'weights' has no number for");
  expect_refused(scorer + "weights: 1", "'weights' must be a mapping");
  expect_refused(scorer + "load-weights: w.txt", "'load-weights' names a file of weights");
  expect_refused(scorer + "source-vocab: v", "'target-vocab' is missing");
  expect_refused(scorer + "source-vocab: [[a, b]]\ntarget-vocab: v",
                 "'source-vocab' has lists of files, for factors");
  expect_refused(scorer + "source-vocab: [a, b]\ntarget-vocab: v", "'source-vocab' has 2 files");
  expect_refused(scorer + "bpe: [a, b]", "'bpe' has 2 files");
  expect_refused(scorer + "softmax-filter: [a, b, c, d]", "'softmax-filter' must be a file");
  expect_refused(scorer + "softmax-filter: [a, b]", "'shortlist': FIRST must be a number");
  expect_refused(scorer + "max-length: -1", "'max-length' must be a whole number");
  expect_refused(scorer + "beem-size: 1", "unknown key 'beem-size' in a configuration of Amun");
  expect_refused(scorer + "\"\\x1Fkey\": {a: 1}", "'\\x1fkey' must be a single value");
  expect_refused(scorer + "beam-size: {a: 1}", "'beam-size' must be a single value");
}

}  // namespace
}  // namespace fuselage::amun_config_test
