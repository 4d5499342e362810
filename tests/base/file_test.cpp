#include "base/file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// An empty folder of this test's own.
std::string fresh_folder(const std::string& name) {
  std::string folder = temp_path("file_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(File, WritesAndReadsBackEveryByte) {
  const std::string path = fresh_folder("roundtrip") + "/a.bin";
  const std::string bytes = std::string(1, '\0') + "\xff\n\r\n\x1a end";
  write_file_atomically(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
}

TEST(File, ReadsWhatHasNoSizeInAdvance) { EXPECT_FALSE(read_file("/proc/self/maps").empty()); }

TEST(File, MissingFileIsReportedAsMissing) {
  const std::string path = fresh_folder("missing") + "/vocab.yml";
  const std::string message = error_of([&] { read_file(path); });
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
}

TEST(File, DirectoryIsRefused) {
  EXPECT_THAT(error_of([] { read_file(testing::TempDir()); }), HasSubstr("it is a directory"));
}

TEST(File, WritingIntoAMissingFolderNamesThePathThatWasAsked) {
  const std::string path = fresh_folder("nowhere") + "/no/such.txt";
  EXPECT_EQ(error_of([&] { write_file_atomically(path, "x"); }),
            "cannot write " + path + ": No such file or directory");
}

TEST(File, AFailedWriteLeavesNothingBehind) {
  const std::string folder = fresh_folder("failed");
  std::filesystem::create_directories(folder + "/taken/inside");
  EXPECT_THAT(error_of([&] { write_file_atomically(folder + "/taken", "x"); }),
              HasSubstr("cannot write " + folder + "/taken"));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  EXPECT_EQ(entries, 1);
}

TEST(File, ExtensionIsThatOfTheLastComponent) {
  EXPECT_EQ(file_extension("models/vocab.en.yml"), "yml");
  EXPECT_EQ(file_extension("a.b/vocab"), "");
  EXPECT_EQ(file_extension("vocab."), "");
}

}  // namespace
}  // namespace fuselage
