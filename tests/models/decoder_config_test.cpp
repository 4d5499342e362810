#include "models/marian/decoder_config.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "tests/temporary_folder.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class DecoderConfigTest : public ::testing::Test {
 protected:
  ~DecoderConfigTest() override { std::remove(path_.c_str()); }

  DecoderConfig read(const std::string& text, bool ignore_unknown = false) const {
    write_file_atomically(path_, text);
    return read_decoder_config(path_, ignore_unknown);
  }

  void expect_refused(const std::string& text, const std::string& message) const {
    EXPECT_THAT([&] { read("models: [m.npz]\n" + text); },
                ThrowsMessage<Error>(HasSubstr(path_ + ": " + message)))
        << text;
  }

  const std::string path_ = temp_path("decoder.yml");
};

TEST_F(DecoderConfigTest, GivesWhatConcernsTheModel) {
  const DecoderConfig config = read(R"(
models: [a.npz, b.npz]
weights: [0.75, 0.5]
vocabs: [s.spm, t.spm]
bpe: codes
shortlist: [lex.s2t, 50, 20]
beam_size: 6
normalize: 0.6
word-penalty: 0
mini-batch: 8
maxi-batch: 10
maxi-batch-sort: src
max-length: 100
allow-unk: false
precision: [float32, float32]
)");
  EXPECT_THAT(config.models, ElementsAre("a.npz", "b.npz"));
  EXPECT_THAT(config.weights, ElementsAre(0.75, 0.5));
  EXPECT_THAT(config.vocabularies, ElementsAre("s.spm", "t.spm"));
  EXPECT_THAT(config.splitters, ElementsAre("codes", "codes"));
  EXPECT_EQ(config.shortlist.path, "lex.s2t");
  EXPECT_EQ(config.shortlist.limits.first, 50);
  EXPECT_EQ(config.shortlist.limits.best, 20);
  const DecodeDefaults decode{.beam_size = 6,
                              .normalize = 0.6f,
                              .word_penalty = 0.0f,
                              .max_length = 100,
                              .mini_batch = 8,
                              .maxi_batch = 10,
                              .maxi_batch_sort = MaxiBatchSort::src,
                              .precision = Precision::fp32};
  EXPECT_EQ(config.decode, decode);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST_F(DecoderConfigTest, HasPathsRelativeToTheFile) {
  const std::string text = "models: [m.npz]\nvocabs: [v.spm, /v.spm]\nshortlist: [lex, 1, 2]\n";
  EXPECT_EQ(read(text).models[0], "m.npz");
  const DecoderConfig config = read(text + "relative-paths: true\n");
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  EXPECT_THAT(config.models, ElementsAre(folder + "m.npz"));
  EXPECT_THAT(config.vocabularies, ElementsAre(folder + "v.spm", "/v.spm"));
  EXPECT_EQ(config.shortlist.path, folder + "lex");
  EXPECT_EQ(config.shortlist.limits.first, 1);
  EXPECT_THAT(config.weights, ElementsAre(1.0));
}

TEST_F(DecoderConfigTest, HasTheTruthsOfYaml) {
  const DecoderConfig config = read(
      "models: [m.npz]\nallow-unk: Yes\nnormalize: True\nrelative-paths: No\n"
      "int8shiftAlphaAll: off\nforce-decode: False\nexact: n\n");
  EXPECT_EQ(config.decode.allow_unk, true);
  EXPECT_EQ(config.decode.normalize, 1.0F) << "as of marian-scorer";
  EXPECT_THAT(config.models, ElementsAre("m.npz"));
  EXPECT_EQ(config.calibration, std::nullopt);
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_EQ(read("models: [m.npz]\nrelative-paths: ON\n").models[0],
            path_.substr(0, path_.rfind('/') + 1) + "m.npz");
  expect_refused("allow-unk: maybe", "'allow-unk' must be one of false, true, not 'maybe'");
}

/// Configurations of programs have options that nobody chose.
TEST_F(DecoderConfigTest, PassesOverOptionsOfMarianWithANote) {
  const DecoderConfig config = read(
      "models: [m.npz]\nport: 8080\noptimize: true\ndim-emb: 256\n"
      "transformer-heads: 4\nalibi: true\ninterpolate-env-vars: true\n");
  EXPECT_THAT(
      config.notes,
      ElementsAre(path_ + ": marian-decoder's 'optimize' is not supported here and passed over: "
                          "precision int16 is in its place",
                  HasSubstr("'interpolate-env-vars'")));
}

/// As in a complete configuration that marian-decoder wrote.
TEST_F(DecoderConfigTest, PassesOverWhatConcernsOtherThings) {
  const DecoderConfig config = read(R"(
models: [m.npz]
n-best: false
input: [stdin]
output: stdout
version: v1.10
sigterm: save-and-exit
type: amun
stat-freq: 0
devices: [0]
quantize-range: 0
shortlist: []
cpu-threads: 4
quiet: true
fp16: false
skip-cost: true
alignment: hard
)");
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_EQ(config.decode, DecodeDefaults{});
  EXPECT_THAT(read("models: [m.npz]\nallow-special: true\nstrict: true\n").notes,
              ElementsAre(path_ + ": 'allow-special' is ignored", path_ + ": 'strict' is ignored"));
}

/// As Bergamot's students and Firefox have it.
TEST_F(DecoderConfigTest, OfFirefoxIsUnderstood) {
  const DecoderConfig config = read(R"(
bergamot-mode: native
relative-paths: true
models:
  - model.intgemm.alphas.bin
vocabs:
  - vocab.deen.spm
  - vocab.deen.spm
shortlist:
  - lex.s2t.bin
  - false
beam-size: 1
normalize: 1.0
word-penalty: 0
max-length-break: 128
mini-batch-words: 1024
workspace: 128
max-length-factor: 2.0
skip-cost: true
cpu-threads: 0
quiet: true
quiet-translation: true
gemm-precision: int8shiftAlphaAll
alignment: soft
quality: quality.bin
ssplit-prefix-file: nonbreaking_prefix.de
ssplit-mode: sentence
cache-size: 20000
)");
  const DecodeDefaults decode{.beam_size = 1,
                              .normalize = 1.0f,
                              .word_penalty = 0.0f,
                              .max_length_factor = 2.0f,
                              .mini_batch_words = 1024,
                              .precision = Precision::int8};
  EXPECT_EQ(config.decode, decode);
  EXPECT_EQ(config.calibration, Calibration::expected);
  EXPECT_FALSE(config.shortlist.checksum);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST_F(DecoderConfigTest, GemmPrecisionIsAPrecisionAndAUseOfCalibration) {
  const auto of = [&](const std::string& text) {
    const DecoderConfig config = read("models: [m.bin]\n" + text);
    return std::pair(config.decode.precision, config.calibration);
  };
  using Stated = std::pair<std::optional<Precision>, std::optional<Calibration>>;
  for (const char* name : {"int8", "int8shift", "int8shiftAll"})
    EXPECT_EQ(of(std::string("gemm-precision: ") + name),
              Stated(Precision::int8, Calibration::ignored));
  for (const char* name : {"int8Alpha", "int8shiftAlpha", "int8shiftAlphaAll"})
    EXPECT_EQ(of(std::string("gemm-precision: ") + name),
              Stated(Precision::int8, Calibration::expected));
  EXPECT_EQ(of("gemm-precision: int16"), Stated(Precision::int16, Calibration::ignored));
  EXPECT_EQ(of("gemm-precision: float32"), Stated(Precision::fp32, Calibration::ignored));
  EXPECT_EQ(of("gemm-precision: int8\nprecision: [float32, float32]"),
            Stated(Precision::int8, Calibration::ignored));
  EXPECT_EQ(of("int8shiftAlphaAll: true\nint16: false"),
            Stated(Precision::int8, Calibration::expected));
  EXPECT_EQ(of(""), Stated());
  expect_refused("gemm-precision: int7", "'gemm-precision' must be one of float32, int16, int8,");
}

TEST_F(DecoderConfigTest, NamesFilesThatAreCompressed) {
  support::TemporaryFolder folder;
  for (const char* name : {"m.bin.gz", "v.spm", "v.spm.gz", "lex.bin.zst"})
    write_file_atomically(folder / name, "");
  const std::string path = folder / "config.yml";
  write_file_atomically(path,
                        "relative-paths: true\nmodels: [m.bin]\nvocabs: [v.spm, w.spm]\n"
                        "shortlist: [lex.bin, false]\n");
  const DecoderConfig config = read_decoder_config(path, false);
  EXPECT_THAT(config.models, ElementsAre(folder / "m.bin.gz"));
  EXPECT_THAT(config.vocabularies, ElementsAre(folder / "v.spm", folder / "w.spm"));
  EXPECT_EQ(config.shortlist.path, folder / "lex.bin.zst");
}

TEST_F(DecoderConfigTest, RefusesWhatTheCommandRefuses) {
  expect_refused("beem-size: 2", "unknown key 'beem-size'; did you mean 'beam-size'?");
  expect_refused("beam-size: yes", "'beam-size' must be a whole number from 1 to 1024, not 'yes'");
  expect_refused("beam-size: [2, 3]", "'beam-size' takes 1 value, not 2");
  expect_refused("precision: [int8, int8]", "'precision' takes 1 value, not 2");
  expect_refused("beam-size: {a: 6}", "'beam-size' is a mapping");
  expect_refused("beam-size: 2\nbeam_size: 3", "'beam-size' is given twice");
  expect_refused("vocabs: [v]", "'vocabs' must name two files, source and target, not 1");
  expect_refused("weights: [1, 2]", "'weights' has 2 numbers, but 'models' has 1");
  expect_refused("weights: [x]", "'weights' must be numbers from -1000000 to 1000000, not 'x'");
  expect_refused("shortlist: [lex, some]",
                 "'shortlist': FIRST must be a number from 0 on, not 'some'");
  EXPECT_THAT(read("models: [m]\nbeem-size: 2\n", true).notes,
              ElementsAre(path_ + ": 'beem-size' is ignored"));
  for (const char* text : {"a: 0\nb: 1\n", "text", "models: []\n"})
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<Error>(HasSubstr("this is YAML, but no")));
}

}  // namespace
}  // namespace fuselage
