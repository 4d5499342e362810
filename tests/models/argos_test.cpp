// Packages of Argos Translate, made by hand.

#include <gmock/gmock.h>
#include <zip.h>

#include <filesystem>

#include "fuselage/base/error.h"
#include "fuselage/models/load_model.h"
#include "tests/models/ctranslate2_writer.h"
#include "tests/temporary_folder.h"

namespace fuselage::argos_test {
namespace {

using support::Ctranslate2Model;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Files = std::map<std::string, std::string>;

void write_archive(const std::string& path, const Files& files) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, content] : files)
    ASSERT_GE(zip_file_add(archive, name.c_str(),
                           zip_source_buffer(archive, content.data(), content.size(), 0), 0),
              0);
  ASSERT_EQ(zip_close(archive), 0);
}

class ArgosPackage : public ::testing::Test {
 protected:
  ArgosPackage() {
    const Ctranslate2Model model;
    files_ = {
        {"metadata.json", R"({"from_code": "en", "to_code": "de", "package_version": "1.9"})"},
        {"model/model.bin", model.bytes()},
        {"model/config.json", model.config},
        {"sentencepiece.model", "\nx"},
        {"README.md", "words"}};
    for (const auto& [name, text] : model.vocabularies) files_["model/" + name] = text;
  }

  std::string archive() const { return folder_ / "translate-en_de.argosmodel"; }
  std::string directory() const { return folder_ / "unpacked"; }

  /// The model of the archive; that of the unpacked directory is the same.
  Model load() const {
    Files members;
    for (const auto& [name, text] : files_) members["en_de/" + name] = text;
    write_archive(archive(), members);
    Model packed = load_model(archive());
    std::filesystem::remove_all(directory());
    for (const auto& [name, text] : files_) {
      const std::filesystem::path path = directory() + "/" + name;
      std::filesystem::create_directories(path.parent_path());
      write_file_atomically(path.string(), text);
    }
    const Model unpacked = load_model(directory());
    EXPECT_EQ(unpacked.format, packed.format);
    EXPECT_EQ(unpacked.text, packed.text);
    EXPECT_EQ(unpacked.notes.size(), packed.notes.size());
    EXPECT_EQ(unpacked.options, packed.options);
    return packed;
  }

  Files files_;
  support::TemporaryFolder folder_;
};

TEST_F(ArgosPackage, IsReadFromItsArchiveOrADirectory) {
  const Model model = load();
  EXPECT_EQ(model.format, "Argos package");
  EXPECT_EQ(model.graph.name(), "translate-en_de.argosmodel");
  EXPECT_EQ(model.text.source_language, "en");
  EXPECT_EQ(model.text.target_language, "de");
  EXPECT_TRUE(model.text.target_prefix.empty());
  EXPECT_TRUE(model.text.source_end);
  EXPECT_TRUE(model.notes.empty());
  const std::string root = archive() + "/en_de/";
  EXPECT_THAT(model.vocabularies, ElementsAre(root + "model/source_vocabulary.json",
                                              root + "model/target_vocabulary.json"));
  EXPECT_THAT(model.splitters,
              ElementsAre(root + "sentencepiece.model", root + "sentencepiece.model"));
  EXPECT_EQ(read_file(model.splitters[0]), "\nx");
}

TEST_F(ArgosPackage, MayHaveAPrefixAndOtherFiles) {
  files_["metadata.json"] = R"({"from_code": "en", "to_code": "de", "target_prefix": "__de__"})";
  files_["stanza/en/tokenize/x.pt"] = "x";
  files_["bpe.model"] = "#version: 0.2\n";
  Model model = load();
  EXPECT_THAT(model.text.target_prefix, ElementsAre("__de__"));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("Stanza")));
  EXPECT_TRUE(model.splitters[0].ends_with("sentencepiece.model"));
  files_.erase("sentencepiece.model");
  model = load();
  EXPECT_TRUE(model.splitters[0].ends_with("bpe.model"));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("Moses"), HasSubstr("Stanza")));
}

TEST_F(ArgosPackage, IsRefusedForWhatIsMissing) {
  const auto refused = [this](const std::string& message) {
    EXPECT_THAT([this] { load(); },
                ThrowsMessage<Error>(AllOf(HasSubstr(archive()), HasSubstr(message))));
  };
  const Files all = files_;
  files_.erase("sentencepiece.model");
  refused("neither sentencepiece.model nor bpe.model");
  files_ = all;
  files_.erase("metadata.json");
  refused("has no metadata.json");
  files_["metadata.json"] = "[]";
  refused("are an object");
  files_["metadata.json"] = R"({"from_code": 1})";
  refused("'from_code' must be a text");
  files_["metadata.json"] = R"({"type": "sbd"})";
  refused("packages of the type 'sbd'");
  files_ = all;
  files_.erase("model/model.bin");
  refused("model/model.bin: the archive has no such file");
  files_ = all;
  files_["model/model.bin"].pop_back();
  refused("model/model.bin: the file is truncated");
}

TEST_F(ArgosPackage, IsAnArchive) {
  write_file_atomically(archive(), "words");
  EXPECT_THAT([this] { load_model(archive()); }, ThrowsMessage<Error>(HasSubstr("this is none")));
  EXPECT_THAT([this] { load_model(folder_ / "none.argosmodel"); },
              ThrowsMessage<Error>(HasSubstr("No such file")));
}

}  // namespace
}  // namespace fuselage::argos_test
