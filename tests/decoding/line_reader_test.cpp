#include "decoding/lines/line_reader.h"

#include <gmock/gmock.h>

#include <sstream>

namespace fuselage::line_reader_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream input(text);
  std::vector<std::string> lines;
  for (std::string line; read_line(input, line);) lines.push_back(line);
  return lines;
}

TEST(ReadLine, ReadsAsGetlineDoes) {
  // 4095 and 4096 are where its parts end.
  for (const std::size_t size : {0, 1, 4094, 4095, 4096, 4097, 8190, 8191, 65535, 65536, 131072}) {
    const std::string line(size, 'x');
    for (const std::string& text : {line, line + "\n", line + "\n\n" + line, "a\n" + line + "\nb",
                                    line + std::string("\0\r\n", 3) + line}) {
      std::istringstream input(text);
      std::vector<std::string> expected;
      for (std::string each; std::getline(input, each);)
        expected.push_back(each.substr(0, kMaxLineBytes + 1));
      EXPECT_EQ(lines_of(text), expected) << size;
    }
  }
}

TEST(LineSource, LeavesOutAByteOrderMarkAtTheBeginning) {
  const std::string text = "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n";
  std::istringstream input(text);
  const LineSource next = fuselage::lines_of(input);
  std::vector<std::string> lines;
  for (std::string line; next(line);) lines.push_back(line);
  EXPECT_THAT(lines, ::testing::ElementsAre("one", "\xEF\xBB\xBFtwo"));
}

TEST(ReadLine, KeepsAByteMoreThanTheBound) {
  const std::string end(3 * kMaxLineBytes, 'y');
  for (const std::size_t size : {kMaxLineBytes, kMaxLineBytes + 1, kMaxLineBytes + 2,
                                 kMaxLineBytes + 4096, 10 * kMaxLineBytes}) {
    const std::string line(size, 'x');
    const std::size_t kept = std::min(size, kMaxLineBytes + 1);
    EXPECT_THAT(
        lines_of(line + "\nz\n" + end),
        ::testing::ElementsAre(std::string(kept, 'x'), "z", std::string(kMaxLineBytes + 1, 'y')));
  }
}

/// Ten gigabytes of one letter and a line more.
class LongLine : public std::streambuf {
 protected:
  int_type underflow() override {
    if (blocks_ == 0) return traits_type::eof();
    if (--blocks_ == 0) block_ = "\nb\n";
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return traits_type::to_int_type(block_.front());
  }

 private:
  std::size_t blocks_ = 10000;
  std::string block_ = std::string(1 << 20, 'a');
};

TEST(ReadLine, PassesOverTheRestOfALine) {
  LongLine buffer;
  std::istream input(&buffer);
  std::string line;
  ASSERT_TRUE(read_line(input, line));
  EXPECT_EQ(line.size(), kMaxLineBytes + 1);
  EXPECT_LT(line.capacity(), 4 * kMaxLineBytes);
  ASSERT_TRUE(read_line(input, line));
  EXPECT_EQ(line, "b");
  EXPECT_FALSE(read_line(input, line));
}

}  // namespace
}  // namespace fuselage::line_reader_test
