#include "base/files/archive.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temporary_folder.h"

namespace fuselage::archive_test {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As Python's zipfile writes it: "a/one" with "first" stored, "a/two" with 300 times "x" deflated,
/// and the folder "a/".
const std::string kArchive =
    "PK\003\004\024\000\000\000\000\000\000\000!\000\000\000\000\000\000\000\000\000\000\000"s
    "\000\000\002\000\000\000a/PK\003\004\024\000\000\000\000\000\000\000!\000W\356q\222\005"s
    "\000\000\000\005\000\000\000\005\000\000\000a/onefirstPK\003\004\024\000\000\000\010\000"s
    "\000\000!\000\023-C\033\007\000\000\000,\001\000\000\005\000\000\000a/two\253\250\030"s
    "\005\304\002\000PK\001\002\024\003\024\000\000\000\000\000\000\000!\000\000\000\000\000"s
    "\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\000\000\000\000\200\001"s
    "\000\000\000\000a/PK\001\002\024\003\024\000\000\000\000\000\000\000!\000W\356q\222\005"s
    "\000\000\000\005\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001 "s
    "\000\000\000a/onePK\001\002\024\003\024\000\000\000\010\000\000\000!\000\023-C\033\007"s
    "\000\000\000,\001\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001H\000"s
    "\000\000a/twoPK\005\006\000\000\000\000\003\000\003\000\226\000\000\000r\000\000\000\000"s
    "\000"s;

class Archive : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes, const std::string& name = "x.zip") const {
    write_file_atomically(folder_ / name, bytes);
    return folder_ / name;
  }

  static std::string error_of(const std::string& path, std::size_t max_bytes = 1000) {
    try {
      read_file(path, max_bytes);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      return error.what();
    }
    return "";
  }

  support::TemporaryFolder folder_;
};

TEST_F(Archive, IsAFolderInPaths) {
  const std::string path = write(kArchive);
  EXPECT_EQ(read_file(path + "/a/one"), "first");
  EXPECT_EQ(read_file(path + "/a/two", 300), std::string(300, 'x'));
  EXPECT_THAT(member_names(path), ElementsAre("a/one", "a/two"));
  EXPECT_TRUE(is_archive(path));
  const auto member = archive_member(path + "/a/one");
  ASSERT_TRUE(member);
  EXPECT_EQ(member->archive, path);
  EXPECT_EQ(member->name, "a/one");
  EXPECT_FALSE(archive_member(path));
  EXPECT_FALSE(archive_member(folder_ / "none/a"));
}

TEST_F(Archive, HasOnlyItsFiles) {
  const std::string path = write(kArchive);
  EXPECT_THAT(error_of(path + "/a/three"), HasSubstr("no such file"));
  EXPECT_THAT(error_of(path + "/a/two", 299), HasSubstr("300 bytes, more than 299"));
  const std::string text = write("no archive", "text");
  EXPECT_THAT(error_of(text + "/a"), HasSubstr("Not a directory"));
  EXPECT_FALSE(is_archive(text));
  EXPECT_FALSE(is_archive(folder_ / ""));
}

TEST_F(Archive, IsReadWithItsChecksums) {
  std::string bytes = kArchive;
  bytes[bytes.find("first")] = 'F';
  EXPECT_THAT(error_of(write(bytes) + "/a/one"), HasSubstr("CRC"));
}

TEST_F(Archive, MayBeCutAnywhere) {
  for (std::size_t size = 0; size < kArchive.size(); ++size) {
    const std::string path = write(kArchive.substr(0, size));
    EXPECT_THAT([&] { read_file(path + "/a/two"); },
                ::testing::ThrowsMessage<Error>(HasSubstr(path)))
        << size;
  }
}

TEST_F(Archive, MayHaveAnyByteChanged) {
  for (std::size_t at = 0; at < kArchive.size(); ++at)
    for (const char byte : {'\0', '\xff', '\x40'}) {
      std::string bytes = kArchive;
      bytes[at] = byte;
      const std::string path = write(bytes);
      try {
        for (const std::string& name : member_names(path)) read_member({path, name}, 1000);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path));
      }
    }
}

}  // namespace
}  // namespace fuselage::archive_test
