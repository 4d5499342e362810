#include "models/marian/published_files.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temporary_folder.h"

namespace fuselage::published_files_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

PublishedFiles find(const std::vector<std::string>& names) {
  return find_published_files(names, "dir");
}

template <typename... Parts>
void expect_refused(const std::vector<std::string>& names, const Parts&... parts) {
  EXPECT_THAT([&] { find(names); },
              ThrowsMessage<Error>(AllOf(HasSubstr("dir: "), HasSubstr(parts)...)));
}

TEST(PublishedFiles, OfFirefox) {
  const PublishedFiles found = find({"lex.50.50.enru.s2t.bin.gz", "metadata.json",
                                     "model.enru.intgemm.alphas.bin.gz", "vocab.enru.spm.gz"});
  EXPECT_EQ(found.configuration, "");
  EXPECT_EQ(found.model, "model.enru.intgemm.alphas.bin.gz");
  EXPECT_EQ(found.shortlist, "lex.50.50.enru.s2t.bin.gz");
  EXPECT_THAT(found.vocabularies, ElementsAre("vocab.enru.spm.gz", "vocab.enru.spm.gz"));
  EXPECT_THAT(found.splitters, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(PublishedFiles, OfFirefoxWithSplitVocabularies) {
  const PublishedFiles found = find({"lex.50.50.enja.s2t.bin", "model.enja.intgemm8.bin",
                                     "srcvocab.enja.spm", "trgvocab.enja.spm"});
  EXPECT_EQ(found.model, "model.enja.intgemm8.bin");
  EXPECT_THAT(found.vocabularies, ElementsAre("srcvocab.enja.spm", "trgvocab.enja.spm"));
}

TEST(PublishedFiles, OfBergamotsStudents) {
  const PublishedFiles found =
      find({"README.md", "config.intgemm8bitalpha.yml", "lex.s2t.bin", "lex.s2t.gz",
            "model.intgemm.alphas.bin", "model_info.json", "vocab.deen.spm"});
  EXPECT_EQ(found.configuration, "config.intgemm8bitalpha.yml");
  EXPECT_EQ(found.shortlist, "lex.s2t.bin");
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(PublishedFiles, OfOpusMt) {
  const PublishedFiles found =
      find({"LICENSE", "README.md", "decoder.yml",
            "opus.spm32k-spm32k.transformer-align.model1.npz", "opus.spm32k-spm32k.vocab.yml",
            "postprocess.sh", "preprocess.sh", "source.spm", "target.spm"});
  EXPECT_EQ(found.configuration, "decoder.yml");
  EXPECT_THAT(found.vocabularies,
              ElementsAre("opus.spm32k-spm32k.vocab.yml", "opus.spm32k-spm32k.vocab.yml"));
  EXPECT_THAT(found.splitters, ElementsAre("source.spm", "target.spm"));
}

TEST(PublishedFiles, OfTrainingWithMarian) {
  PublishedFiles found = find({"model.npz", "model.npz.amun.yml", "model.npz.decoder.yml",
                               "model.npz.optimizer.npz", "model.npz.progress.yml", "model.npz.yml",
                               "train.log", "vocab.de.yml", "vocab.en.yml"});
  EXPECT_EQ(found.configuration, "model.npz.decoder.yml");
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("do not tell source and target apart")));
  found = find({"model.npz", "model.npz.optimizer.npz", "vocab.src.yml", "vocab.trg.yml"});
  EXPECT_EQ(found.model, "model.npz");
  EXPECT_THAT(found.vocabularies, ElementsAre("vocab.src.yml", "vocab.trg.yml"));
}

TEST(PublishedFiles, OfAVocabularyInTwoFormsGiveANote) {
  const PublishedFiles found = find({"model.npz", "vocab.spm", "vocab.yml"});
  EXPECT_THAT(found.vocabularies, IsEmpty());
  EXPECT_THAT(found.splitters, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("'vocab.spm', 'vocab.yml'")));
}

TEST(PublishedFiles, OfTwoFormsThePlainOneCounts) {
  const PublishedFiles found = find({"model.bin", "model.bin.gz", "vocab.spm", "vocab.spm.zst"});
  EXPECT_EQ(found.model, "model.bin");
  EXPECT_THAT(found.vocabularies, ElementsAre("vocab.spm", "vocab.spm"));
}

TEST(PublishedFiles, OfTwoModelsAreRefusedWithBothNames) {
  expect_refused({"a.npz", "b.npz", "vocab.yml"}, "several models", "'a.npz'", "'b.npz'");
  expect_refused({"model.ende.bin.gz", "model.ende.npz"}, "several models", "'model.ende.bin.gz'",
                 "'model.ende.npz'");
  expect_refused({"a.npz.decoder.yml", "b.npz.decoder.yml", "a.npz", "b.npz"},
                 "several configurations", "'a.npz.decoder.yml'", "'b.npz.decoder.yml'");
  expect_refused({"model.bin", "lex.s2t.bin", "lex2.s2t.bin"}, "several shortlists",
                 "'lex.s2t.bin'", "'lex2.s2t.bin'");
  expect_refused({"model.bin", "srcvocab.a.spm", "srcvocab.b.spm", "trgvocab.spm"},
                 "several vocabularies", "'srcvocab.a.spm'", "'srcvocab.b.spm'");
}

TEST(PublishedFiles, WithoutAModelAreRefused) {
  expect_refused({}, "holds no model");
  expect_refused({"vocab.spm", "lex.s2t.bin", "model.npz.optimizer.npz"}, "holds no model");
}

TEST(PublishedFiles, OfDifferentPairsGiveANote) {
  EXPECT_THAT(
      find({"model.enru.intgemm.alphas.bin", "vocab.ende.spm", "lex.50.50.enfr.s2t.bin"}).notes,
      ElementsAre(HasSubstr("is named for enru, but 'vocab.ende.spm' for ende"),
                  HasSubstr("'lex.50.50.enfr.s2t.bin' for enfr")));
  // A joint vocabulary serves both directions; a shortlist does not.
  EXPECT_THAT(find({"model.deen.bin", "vocab.ende.spm", "lex.50.50.ende.s2t.bin"}).notes,
              ElementsAre(HasSubstr("'lex.50.50.ende.s2t.bin' for ende")));
}

TEST(PublishedFiles, AreThoseOfTheDirectoryItself) {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "b.npz");
  write_file_atomically(folder / "a.npz", "");
  EXPECT_EQ(find_published_files(folder / "").model, "a.npz");
  EXPECT_THAT([&] { find_published_files(folder / "no"); },
              ThrowsMessage<Error>(HasSubstr("cannot read the directory")));
}

}  // namespace
}  // namespace fuselage::published_files_test
