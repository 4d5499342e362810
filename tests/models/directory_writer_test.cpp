#include "models/directory/directory_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "base/files/file.h"
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

TEST_F(DirectoryWriterTest, RemovesWhatAKilledWriterLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    DirectoryWriter writer(root_ + "/a");
    write_file_atomically(writer.path_of("f"), "1");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string left = fmt::format("a.tmp.{}.0", child);
  ASSERT_THAT(names(), ElementsAre(left));
  // Other names stay: those of the user, of other targets, and of the only copy of a target.
  const std::set<std::string> others = {"a.tmp.x.0", "a.tmp.1", "a.tmp.1.0.old", "ab.tmp.1.0"};
  for (const std::string& other : others) fs::create_directory(root_ + "/" + other);
  DirectoryWriter held(root_ + "/a");
  const std::set<std::string> before = names();
  EXPECT_FALSE(before.contains(left));
  DirectoryWriter writer(root_ + "/a");
  for (const std::string& name : before) EXPECT_TRUE(names().contains(name)) << name;
  held.commit();
  writer.commit();
  EXPECT_TRUE(names().contains("a.tmp.1.0.old"));
  DirectoryWriter(root_ + "/a").commit();
  EXPECT_THAT(names(), ElementsAre("a", "a.tmp.1", "a.tmp.x.0", "ab.tmp.1.0"));
}

}  // namespace
}  // namespace fuselage
