#include "models/directory/manifest.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage::manifest_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_manifest(text, "m/SHA256SUMS");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

const std::string kDigest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// FIPS 180-4's examples.
TEST(Sha256, GivesTheStandardDigests) {
  EXPECT_EQ(to_hex(sha256("abc")), kDigest);
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, NamesBothDigestsOfAFileThatDiffers) {
  expect_digest("abc", "m/graph.ir", {sha256("abc"), "m/SHA256SUMS"});
  try {
    expect_digest("abc", "m/graph.ir", {sha256(""), "m/SHA256SUMS"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("m/graph.ir: its SHA-256 is ba7816bf8f01…, but m/SHA256SUMS "
                          "lists e3b0c44298fc…"));
  }
}

TEST(Manifest, IsWhatSha256sumWritesAndReads) {
  const Manifest manifest = {{"config.json", sha256("abc")}, {"ключ 1", sha256("")}};
  const std::string text = print_manifest(manifest);
  EXPECT_EQ(text.substr(0, 78), kDigest + "  config.json\n");
  EXPECT_EQ(parse_manifest(text, "x"), manifest);
  EXPECT_EQ(parse_manifest(kDigest + " *a\n" + kDigest + "  b", "x").size(), 2u);
  std::string upper = kDigest;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(parse_manifest(upper + "  a\n", "x").at("a"), sha256("abc"));
  EXPECT_TRUE(parse_manifest("", "x").empty());
}

TEST(Manifest, RefusesOtherLines) {
  for (const std::string& line :
       {std::string("x"), kDigest, kDigest + "  ", kDigest + " a", kDigest.substr(1) + "   a",
        "g" + kDigest.substr(1) + "  a", "-" + kDigest.substr(1) + "  a", "\\" + kDigest + "  a",
        std::string("\n")})
    EXPECT_THAT(error_of(kDigest + "  first\n" + line + "\n"), HasSubstr("m/SHA256SUMS: line 2: "))
        << line;
}

TEST(Manifest, RefusesFilesOutsideOfTheDirectoryAndRepetitions) {
  for (const std::string name : {"../a", "a/b", "/a", "..", ".", "SHA256SUMS"})
    EXPECT_THAT(error_of(kDigest + "  " + name + "\n"),
                HasSubstr("line 1: '" + name + "' must be another file in the model directory"));
  EXPECT_THAT(error_of(kDigest + "  a\n" + kDigest + "  a\n"),
              HasSubstr("line 2: 'a' is listed twice"));
}

}  // namespace
}  // namespace fuselage::manifest_test
