#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fuselage/base/error.h"
#include "text/shortlist/lexical_table.h"

namespace fuselage {
namespace {

constexpr std::uint64_t kMagic = 0xF11A48D5013417F5;
constexpr std::int32_t kQuicksandMagic = 1234567890;
constexpr std::uint64_t kMaxFirst = 10'000'000;

/// The beginning of the file.
struct Header {
  std::uint64_t magic, checksum, first, best, offsets, entries;
};
static_assert(sizeof(Header) == 48);

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Bytes of the magic number and the checksum.
constexpr std::size_t kChecked = 16;

/// Checksum of all complete 64-bit words after the magic number and the checksum.
std::uint64_t checksum_of(std::string_view rest) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + 8 <= rest.size(); at += 8)
    sum ^= number_at<std::uint64_t>(rest, at) + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  return sum;
}

Header parse_header(std::string_view bytes, const std::string& name) {
  if (bytes.size() >= 4 && number_at<std::int32_t>(bytes, 0) == kQuicksandMagic)
    throw Error(
        fmt::format("{}: this is a shortlist of Quicksand, which is not supported; give the table "
                    "that it was made of, or one of marian-conv",
                    name));
  if (bytes.size() < sizeof(Header))
    throw Error(fmt::format("{}: the file is truncated: it has {} bytes, but its header takes {}",
                            name, bytes.size(), sizeof(Header)));
  const auto header = number_at<Header>(bytes, 0);
  if (header.magic != kMagic)
    throw Error(fmt::format("{}: this is no binary shortlist: it begins with {:#x}, not {:#x}",
                            name, header.magic, kMagic));
  if (header.first > kMaxFirst)
    throw Error(fmt::format("{}: it wants the {} most frequent words, more than any vocabulary has",
                            name, header.first));
  return header;
}

/// Throws Error unless the size of the file is exactly the size that the header states.
void check_size(const Header& header, std::string_view bytes, const std::string& name) {
  const std::uint64_t rest = bytes.size() - sizeof(Header);
  const bool fits = header.offsets >= 1 && header.offsets <= rest / 8 &&
                    header.entries == (rest - 8 * header.offsets) / 4 &&
                    (rest - 8 * header.offsets) % 4 == 0;
  if (!fits)
    throw Error(
        fmt::format("{}: it has {} bytes, which is not what its {} offsets and {} entries take",
                    name, bytes.size(), header.offsets, header.entries));
}

void check_offsets(const LexicalTable& table, const std::string& name) {
  if (!std::is_sorted(table.begin.begin(), table.begin.end()) ||
      table.begin.back() != table.words.size())
    throw Error(
        fmt::format("{}: it is damaged: its offsets do not divide its {} entries among words", name,
                    table.words.size()));
}

void check_vocabularies(const LexicalTable& table, const std::string& name,
                        const LexicalSides& sides) {
  // A table ends with the last word that has translations. A model may know fewer words than its
  // vocabulary, of which the table was made.
  if (const std::size_t lists = table.begin.size() - 1;
      lists > static_cast<std::size_t>(sides.source.stored_size()))
    throw Error(fmt::format(
        "{}: it is for {} source words, but the vocabulary has {}; give the shortlist of "
        "this model",
        name, lists, sides.source.stored_size()));
  for (const WordId word : table.words)
    if (word < 0 || word >= sides.target.size())
      throw Error(fmt::format(
          "{}: it has the target word {}, but the vocabulary has {} words only; give the "
          "shortlist of this model",
          name, static_cast<std::uint32_t>(word), sides.target.size()));
}

}  // namespace

bool is_lexical_binary(std::string_view bytes) {
  return bytes.size() >= 8 && number_at<std::uint64_t>(bytes, 0) == kMagic;
}

std::string lexical_binary_header(std::string_view rest) {
  std::string header(kChecked, '\0');
  const std::uint64_t checksum = checksum_of(rest);
  std::memcpy(header.data(), &kMagic, sizeof kMagic);
  std::memcpy(header.data() + sizeof kMagic, &checksum, sizeof checksum);
  return header;
}

LexicalTable parse_lexical_binary(std::string_view bytes, const std::string& name,
                                  const LexicalSides& sides, bool checksum) {
  const Header header = parse_header(bytes, name);
  check_size(header, bytes, name);
  if (const std::uint64_t sum = checksum ? checksum_of(bytes.substr(kChecked)) : header.checksum;
      sum != header.checksum)
    throw Error(fmt::format("{}: it is damaged: its checksum is {:#x}, but its content gives {:#x}",
                            name, header.checksum, sum));
  LexicalTable table{.first = static_cast<std::int64_t>(header.first)};
  table.begin.resize(header.offsets);
  table.words.resize(header.entries);
  const char* offsets = bytes.data() + sizeof(Header);
  std::memcpy(table.begin.data(), offsets, 8 * header.offsets);
  if (header.entries > 0)
    std::memcpy(table.words.data(), offsets + 8 * header.offsets, 4 * header.entries);
  check_offsets(table, name);
  check_vocabularies(table, name, sides);
  return table;
}

}  // namespace fuselage
