// Directories of published files, made of a conformance case.

#include <gmock/gmock.h>

#include <sstream>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/load_model.h"
#include "models/formats/npz.h"
#include "tests/decoding/support.h"
#include "tests/models/marian_bin_writer.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

std::string compressed(const std::string& bytes, const std::string& name) {
  const auto compressor = make_compressor(name);
  std::string result;
  compressor->compress(bytes, Compressor::Rest::end, result);
  return result;
}

/// A model as Firefox has it, with multipliers for each matrix if `calibrated`.
std::string firefox_model(bool calibrated) {
  const NpzFile file = read_npz(support::small_model());
  std::vector<support::BinItem> items;
  const auto is_matrix = [](const std::string& name) {
    const std::size_t at = name.find("_W");
    return name.find("Wemb") != std::string::npos ||
           (at != std::string::npos && at + 3 >= name.size());
  };
  for (const auto& [name, tensor] : file.tensors) {
    if (!is_matrix(name)) {
      items.push_back(support::plain_item(name, tensor));
      continue;
    }
    const bool table = name == "Wemb";
    items.push_back(table ? support::table_item(name, tensor, 0x4101)
                          : support::quantized_item(name, tensor, 0x4101));
    if (!calibrated) continue;
    Tensor multiplier(DType::f32, {1, 1});
    multiplier.mutable_data<float>()[0] = 14.3F;
    items.push_back(table ? support::table_item(name + "_QuantMultA", multiplier, 0x4101)
                          : support::plain_item(name + "_QuantMultA", multiplier));
  }
  items.push_back(support::config_item(file.config_yaml));
  return support::marian_bin(items);
}

class PublishedDirectory : public ::testing::Test {
 protected:
  /// Writes a file, compressed if its name says so.
  void write(const std::string& name, const std::string& bytes) const {
    write_file_atomically(directory_ / name,
                          without_compression(name) == name ? bytes : compressed(bytes, name));
  }

  std::string spm() const { return read_file(std::string(FUSELAGE_TEST_DATA) + "/vocab.spm"); }

  std::vector<std::string> translate(const std::string& path, TranslatorOptions options = {}) {
    const Translator translator(path, std::move(options));
    notes_ = translator.notes();
    decode_ = translator.options();
    std::vector<std::string> texts;
    for (const Translation& translation :
         translator.translate({"Tom is my friend.", "I don't know where he lives."}))
      texts.push_back(translation.n_best[0].text);
    return texts;
  }

  /// The translations of a model file with the settings of Firefox.
  std::vector<std::string> expected(const std::string& bytes) {
    const std::string path = outside_ / "model.bin";
    write_file_atomically(path, bytes);
    return translate(path, {.beam_size = 1,
                            .max_length_factor = 2,
                            .vocabularies = {.paths = {vocabulary_, vocabulary_}}});
  }

  const support::TemporaryFolder directory_, outside_;
  const std::string path_ = directory_ / "";
  const std::string vocabulary_ = std::string(FUSELAGE_TEST_DATA) + "/vocab.spm";
  std::vector<std::string> notes_;
  TranslatorOptions decode_;
};

TEST_F(PublishedDirectory, OfFirefoxHasItsSettings) {
  const std::string model = firefox_model(true);
  const std::vector<std::string> texts = expected(model);
  write("model.ende.intgemm.alphas.bin.gz", model);
  write("vocab.ende.spm.zst", spm());
  EXPECT_EQ(translate(path_), texts);
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(decode_.beam_size, 1);
  EXPECT_EQ(decode_.normalize, 1.0f);
  EXPECT_EQ(decode_.max_length_factor, 2.0f);
  EXPECT_EQ(decode_.compile.precision, Precision::int8);
}

TEST_F(PublishedDirectory, OfFirefoxWithItsConfiguration) {
  const std::string model = firefox_model(true);
  const std::vector<std::string> texts = expected(model);
  write("model.ende.intgemm.alphas.bin.gz", model);
  write("srcvocab.ende.spm", spm());
  write("trgvocab.ende.spm", spm());
  write("lex.50.50.ende.s2t.gz", "a b 1\n");
  // The paths may be those of the directory, whether the configuration says so or not.
  for (const char* relative : {"relative-paths: true\n", ""}) {
    write("config.intgemm8bitalpha.yml",
          std::string(relative) +
              "models: [model.ende.intgemm.alphas.bin]\n"
              "vocabs: [srcvocab.ende.spm, trgvocab.ende.spm]\n"
              "shortlist: [lex.50.50.ende.s2t, 100000]\nbeam-size: 1\nnormalize: 1.0\n"
              "max-length-break: 128\nmini-batch-words: 1024\nworkspace: 128\n"
              "max-length-factor: 2.0\nskip-cost: true\nquiet: true\nalignment: soft\n"
              "gemm-precision: int8shiftAlphaAll\n");
    EXPECT_EQ(translate(path_), texts);
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("has translations of the first")));
  }
}

TEST_F(PublishedDirectory, OfFirefoxWithoutCalibrationSaysSo) {
  write("model.bin", firefox_model(false));
  write("vocab.spm", spm());
  write("config.yml", "models: [model.bin]\ngemm-precision: int8shiftAlphaAll\n");
  const std::vector<std::string> texts = translate(path_);
  EXPECT_THAT(notes_, Contains(HasSubstr("has no multipliers of calibration")));
  write("model.bin", firefox_model(true));
  EXPECT_NE(translate(path_), texts) << "the multipliers change nothing";
  EXPECT_THAT(notes_, IsEmpty());
  write("config.yml", "models: [model.bin]\ngemm-precision: int8shift\n");
  EXPECT_EQ(translate(path_), texts);
}

TEST_F(PublishedDirectory, OfOpusMtSplitsTextIntoTheWordsOfItsVocabulary) {
  const std::string model = read_file(support::small_model());
  write_file_atomically(outside_ / "model.npz", model);
  const std::vector<std::string> texts = translate(
      outside_ / "model.npz",
      {.beam_size = 6, .normalize = 1, .vocabularies = {.paths = {vocabulary_, vocabulary_}}});
  write("opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz", model);
  write("opus.spm32k-spm32k.vocab.yml", read_file(support::vocabularies()[0]));
  write("source.spm", spm());
  write("target.spm", spm());
  write("preprocess.sh", "#!/bin/bash\n");
  write("decoder.yml", R"(
models:
  - opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz
vocabs:
  - opus.spm32k-spm32k.vocab.yml
  - opus.spm32k-spm32k.vocab.yml
beam-size: 6
normalize: 1
word-penalty: 0
mini-batch: 1
maxi-batch: 1
maxi-batch-sort: none
relative-paths: true
)");
  EXPECT_EQ(translate(path_), texts);
  EXPECT_THAT(notes_, IsEmpty());
  // It stays so in a model directory, whose list has the splitters.
  const Model loaded = load_model(path_);
  EXPECT_THAT(loaded.splitters, ElementsAre(directory_ / "source.spm", directory_ / "target.spm"));
  save_model_directory(loaded, loaded.vocabularies, outside_ / "saved");
  EXPECT_EQ(translate(outside_ / "saved"), texts);
  EXPECT_THAT(notes_, IsEmpty());
  write_file_atomically(outside_ / "saved/source.spm", spm() + "x");
  EXPECT_THAT([&] { translate(outside_ / "saved"); },
              ThrowsMessage<Error>(HasSubstr("saved/source.spm")));
  // A vocabulary that splits text needs no splitter, and takes none.
  EXPECT_EQ(translate(path_, {.vocabularies = {.paths = {vocabulary_, vocabulary_}}}), texts);
  EXPECT_THAT(
      [&] {
        translate(path_, {.vocabularies = {.paths = {vocabulary_, vocabulary_},
                                           .splitters = {vocabulary_, vocabulary_}}});
      },
      ThrowsMessage<Error>(HasSubstr("splits text by itself")));
}

TEST_F(PublishedDirectory, OfTrainingHasTheConfigurationThatMarianWrote) {
  write("model.npz", read_file(support::small_model()));
  write("vocab.spm", spm());
  write("model.npz.yml", "type: transformer\n");
  write("model.npz.decoder.yml",
        "models: [/elsewhere/model.npz]\nvocabs: [/elsewhere/vocab.spm, /elsewhere/vocab.spm]\n"
        "beam-size: 3\n");
  translate(path_);
  EXPECT_EQ(decode_.beam_size, 3);
}

TEST_F(PublishedDirectory, ThatIsDamagedIsRefused) {
  const auto expect_refused = [&](const std::string& message) {
    EXPECT_THAT([&] { load_model(path_); },
                ThrowsMessage<Error>(AllOf(HasSubstr(path_), HasSubstr(message))));
  };
  expect_refused("holds no model");
  write("model.bin", "");
  write("vocab.spm", "");
  expect_refused("model.bin");
  write("config.yml", "models: [other.bin]\n");
  EXPECT_THAT([&] { load_model(path_); },
              ThrowsMessage<Error>(HasSubstr("cannot open model other.bin")));
  write("config.yml", "models: [config.yml]\n");
  expect_refused("is a configuration too");
  for (const char* name : {".", "..", "/"}) {
    write("config.yml", std::string("models: [") + name + "]\n");
    expect_refused("is a directory, but no model directory");
  }
  write("config.yml", "- a\n");
  expect_refused("names no models");
}

TEST_F(PublishedDirectory, ExpandsNoMoreThanAModelMayTake) {
  write("model.bin.gz", std::string(std::size_t{64} << 20, '\0'));
  EXPECT_THAT([&] { load_model(path_); }, ThrowsMessage<Error>(HasSubstr("model.bin.gz")));
}

}  // namespace
}  // namespace fuselage
