#include "corpus/output/resumable_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "corpus/input/row_reader.h"
#include "fuselage/base/error.h"
#include "tests/temporary_folder.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ResumableFileTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path() const { return folder_ / (std::string("out") + GetParam()); }
  std::string text() const { return read_text(path(), 1 << 20); }

  ResumableFile::Options options(double seconds, const std::string& fact = "1") const {
    return {.facts = {{"fact", fact}},
            .resume = true,
            .interval = std::chrono::duration<double>(seconds)};
  }

  support::TemporaryFolder folder_;
};

TEST_P(ResumableFileTest, GoesOnBehindTheLastCheckpoint) {
  {
    ResumableFile file(path(), options(1000));
    EXPECT_EQ(file.begin(), TextState());
    file.write("a\n", {.rows = 1, .digest = 7, .words = 1});
    file.checkpoint();
    file.write("lost\n", {.rows = 2, .digest = 8, .words = 2});
  }
  write_file_atomically(path() + ".part", read_file(path() + ".part") + "half");
  ResumableFile file(path(), options(1000));
  EXPECT_EQ(file.begin(), (TextState{.rows = 1, .digest = 7, .words = 1}));
  file.write("b\n", {.rows = 2, .digest = 8, .words = 2});
  EXPECT_FALSE(std::filesystem::exists(path()));
  file.finish({.rows = 3, .digest = 9, .words = 2});
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".part"));
  ResumableFile again(path(), options(1000));
  EXPECT_TRUE(again.begin().is_complete);
}

TEST_P(ResumableFileTest, IsEndedAfterALossBetweenJournalAndName) {
  {
    ResumableFile file(path(), options(0));
    file.begin();
    file.write("a\n", {.rows = 1, .digest = 7});
    file.finish({.rows = 1, .digest = 7});
  }
  std::filesystem::rename(path(), path() + ".part");
  ResumableFile file(path(), options(0));
  EXPECT_TRUE(file.begin().is_complete);
  EXPECT_EQ(text(), "a\n");
}

TEST_P(ResumableFileTest, RefusesOtherFactsAndOtherProcesses) {
  ResumableFile file(path(), options(0));
  file.begin();
  EXPECT_THAT(
      [&] { ResumableFile(path(), options(0, "2")).begin(); },
      ThrowsMessage<Error>(HasSubstr("fact was '1' at its first start, but now it is '2'")));
  EXPECT_THAT([&] { ResumableFile(path(), options(0)).begin(); },
              ThrowsMessage<Error>(HasSubstr("is being written by another process")));
}

TEST_P(ResumableFileTest, OverwritesNothing) {
  write_file_atomically(path(), "mine");
  EXPECT_THAT([&] { ResumableFile(path(), options(0)).begin(); },
              ThrowsMessage<Error>(HasSubstr("is there, but")));
  EXPECT_EQ(read_file(path()), "mine");
}

INSTANTIATE_TEST_SUITE_P(Names, ResumableFileTest, ::testing::Values("", ".gz", ".zst"));

TEST(RowReader, ReadsFilesOneAfterAnother) {
  const support::TemporaryFolder folder;
  const std::string a = folder / "a", b = folder / "b", c = folder / "c";
  write_file_atomically(a,
                        "\xEF\xBB\xBF"
                        "1\n\n2");
  write_file_atomically(b, "\xEF\xBB\xBF");
  write_file_atomically(c, "long row\n4\n");
  RowReader reader({a, b, c}, {.bytes = 3, .cut = true});
  std::string row, all;
  while (reader.next(row)) all += row + "|";
  EXPECT_EQ(all, "1||2|long|4|");
  EXPECT_EQ(reader.place(), c + ", line 2");
  EXPECT_EQ(reader.bytes_read(), 21u);
  RowReader strict({c}, {.bytes = 3, .cut = false});
  EXPECT_THAT(
      [&] {
        while (strict.next(row)) continue;
      },
      ThrowsMessage<Error>(HasSubstr("/c, line 1: the line has more than 3 bytes")));
}

TEST(Journal, IsReadAsItIsWritten) {
  const Journal journal{.facts = {{"a", "\xFF \"b\""}, {"c", ""}},
                        .state = {.rows = 3, .digest = ~0ull, .words = 5, .is_complete = true},
                        .bytes = 9,
                        .seconds = 0.25};
  Journal expected = journal;
  expected.facts["a"] = "\xEF\xBF\xBD \"b\"";
  EXPECT_EQ(parse_journal(print_journal(journal)), expected);
  EXPECT_THROW(parse_journal("{}"), Error);
  EXPECT_THROW(parse_journal(std::string(1000, '[')), Error);
}

}  // namespace
}  // namespace fuselage
