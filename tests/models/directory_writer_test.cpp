#include "models/directory/directory_writer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryWriterTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(root_); }
  void TearDown() override { fs::remove_all(root_); }

  std::set<std::string> names(const std::string& directory = "") const {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator(root_ + "/" + directory))
      result.insert(entry.path().filename().string());
    return result;
  }

  const std::string root_ = temp_path("directory_writer");
};

TEST_F(DirectoryWriterTest, MakesADirectoryAndItsParents) {
  DirectoryWriter writer(root_ + "/a/b/");
  write_file_atomically(writer.path_of("f"), "1");
  EXPECT_FALSE(fs::exists(root_ + "/a/b"));
  writer.commit();
  EXPECT_THAT(names("a"), ElementsAre("b"));
  EXPECT_EQ(read_file(root_ + "/a/b/f"), "1");
}

TEST_F(DirectoryWriterTest, LeavesNothingWithoutACommit) {
  {
    DirectoryWriter writer(root_ + "/a/b/c");
    write_file_atomically(writer.path_of("f"), "1");
    EXPECT_THAT(names("a"), ElementsAre("b"));
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(DirectoryWriterTest, ReplacesADirectoryAsAWhole) {
  fs::create_directory(root_ + "/a");
  write_file_atomically(root_ + "/a/old", "1");
  fs::create_directory_symlink("a", root_ + "/link");
  {
    DirectoryWriter abandoned(root_ + "/a");
    write_file_atomically(abandoned.path_of("new"), "2");
  }
  EXPECT_THAT(names("a"), ElementsAre("old"));
  DirectoryWriter writer(root_ + "/link");
  write_file_atomically(writer.path_of("new"), "2");
  writer.commit();
  EXPECT_THAT(names("a"), ElementsAre("new"));
  EXPECT_THAT(names(), ElementsAre("a", "link"));
  EXPECT_TRUE(fs::is_symlink(root_ + "/link"));
}

TEST_F(DirectoryWriterTest, KeepsTheTargetWhenItCannotBeReplaced) {
  write_file_atomically(root_ + "/file", "1");
  EXPECT_THROW(DirectoryWriter(root_ + "/file/a"), Error);
  {
    DirectoryWriter writer(root_ + "/file");
    write_file_atomically(writer.path_of("f"), "2");
    EXPECT_THROW(writer.commit(), Error);
  }
  EXPECT_EQ(read_file(root_ + "/file"), "1");
  EXPECT_THAT(names(), ElementsAre("file"));
}

}  // namespace
}  // namespace fuselage
