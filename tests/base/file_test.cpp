#include "base/files/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuselage/base/error.h"
#include "tests/temp_path.h"

namespace fuselage::file_test {
namespace {

using ::testing::HasSubstr;

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

TEST(File, MoreBytesThanAskedForAreRefused) {
  const std::string path = temp_path("bounded");
  write_file_atomically(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_THAT(
      [&] { read_file(path, 4); },
      ::testing::ThrowsMessage<Error>("cannot read " + path + ": it has 5 bytes, more than 4"));
  EXPECT_THAT(
      [] { read_file("/dev/zero", 100000); },
      ::testing::ThrowsMessage<Error>("cannot read /dev/zero: it has more than 100000 bytes"));
}

TEST(File, DirectoryIsRefused) {
  EXPECT_THAT(error_of([] { read_file(::testing::TempDir()); }), HasSubstr("it is a directory"));
}

TEST(File, WritingIntoAMissingFolderNamesThePathThatWasAsked) {
  const std::string path = fresh_folder("nowhere") + "/no/such.txt";
  EXPECT_THAT(error_of([&] { write_file_atomically(path, "x"); }),
              ::testing::MatchesRegex("cannot write " + path + ": cannot create " + path +
                                      "\\.tmp\\.[0-9a-f]+: No such file or directory"));
}

TEST(File, AFailedWriteLeavesNothingBehind) {
  const std::string folder = fresh_folder("failed");
  std::filesystem::create_directories(folder + "/taken/inside");
  EXPECT_THAT(error_of([&] { write_file_atomically(folder + "/taken", "x"); }),
              ::testing::MatchesRegex("cannot write " + folder + "/taken: cannot rename " + folder +
                                      "/taken\\.tmp\\.[0-9a-f]+ to it: Is a directory"));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  EXPECT_EQ(entries, 1);
}

TEST(File, WritingDoesNotTripOverWhatAKilledProcessLeft) {
  const std::string path = fresh_folder("left") + "/a.bin";
  for (int i = 0; i < 50; ++i)
    std::ofstream(fmt::format("{}.tmp.{}.{}", path, ::getpid(), i)) << "left";
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
}

TEST(File, IsMadeWithThePermissionsThatTheUmaskLeaves) {
  const std::string path = fresh_folder("permissions") + "/a.bin";
  const ::mode_t before = ::umask(002);
  const std::string_view bytes = "x";
  struct stat status {};
  for (const unsigned permissions : {0666u, 0600u}) {
    write_file_atomically(path, std::span(&bytes, 1), permissions);
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, permissions & ~002u);
  }
  ::umask(before);
}

TEST(File, ExtensionIsThatOfTheLastComponent) {
  EXPECT_EQ(file_extension("models/vocab.en.yml"), "yml");
  EXPECT_EQ(file_extension("a.b/vocab"), "");
  EXPECT_EQ(file_extension("vocab."), "");
}

}  // namespace
}  // namespace fuselage::file_test
