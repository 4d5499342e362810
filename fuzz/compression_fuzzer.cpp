// Expands an input as gzip and as zstd, whole and in small pieces, and compresses it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "base/files/compression.h"
#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/mutate.h"

namespace {

using namespace fuselage;

constexpr std::array<const char*, 2> kNames = {"fuzz.gz", "fuzz.zst"};
/// Maximum number of bytes that an input is expanded to.
constexpr std::size_t kMaxText = std::size_t{1} << 16;
constexpr std::size_t kMaxPiece = 64;
/// The magic number of zstd's frames (RFC 8878, 3.1.1). Older versions differ in the first byte.
constexpr char kMagicBegin = '\x28';
constexpr std::string_view kMagicEnd = "\xB5\x2F\xFD";

using Random = std::minstd_rand;

/// A random size from 1 to `most`, with small sizes more often.
std::size_t some_size(Random& random, std::size_t most) {
  return 1 + random() % (1 + random() % most);
}

struct Expanded {
  std::string text;
  bool damaged = false, may_end = false;
};

/// Whether two expansions agree. The text of a damaged block may depend on the pieces.
bool agree(const Expanded& a, const Expanded& b) {
  const bool same_text =
      a.damaged ? a.text.starts_with(b.text) || b.text.starts_with(a.text) : a.text == b.text;
  return same_text && a.damaged == b.damaged && a.may_end == b.may_end;
}

/// Expands the input in one piece, or with `random` in small pieces of input and output.
Expanded expand(std::string_view input, const char* name, Random* random) {
  const std::unique_ptr<Expander> expander = make_expander(name);
  static std::array<char, kMaxText> output;
  Expanded result;
  std::string_view piece;
  try {
    while (result.text.size() < kMaxText) {
      if (piece.empty() && !input.empty()) {
        piece = input.substr(0, random ? some_size(*random, kMaxPiece) : input.size());
        input.remove_prefix(piece.size());
      }
      const std::size_t room = kMaxText - result.text.size();
      const std::size_t wanted = random ? std::min(some_size(*random, kMaxPiece), room) : room;
      const std::size_t given = piece.size();
      const std::size_t written = expander->expand(piece, std::span(output).first(wanted));
      check(written <= wanted && piece.size() <= given, "more is written than there is room for");
      result.text.append(output.data(), written);
      if (written > 0 || piece.size() < given) continue;
      check(given == 0, "neither is taken nor written");
      if (input.empty()) break;
    }
    result.may_end = expander->may_end();
  } catch (const Error& error) {
    check_message(error);
    result.damaged = true;
  }
  return result;
}

/// Checks that expand_text accepts exactly the texts that are not damaged, cut off or too long.
void check_expand_text(std::string_view input, const char* name, const Expanded& expected) {
  const bool whole = !expected.damaged && expected.may_end && expected.text.size() < kMaxText;
  try {
    const std::string text = expand_text(std::string(input), name, kMaxText - 1);
    check(whole && text == expected.text, "a text as a whole is another");
  } catch (const Error& error) {
    check_message(error);
    check(!whole, "a text as a whole is refused");
  }
}

/// Whether the input contains a magic number of zstd's older versions. Whether libzstd detects it
/// depends on how the input is cut into pieces.
bool has_former_frame(std::string_view input) {
  for (std::size_t at = input.find(kMagicEnd); at != input.npos; at = input.find(kMagicEnd, at + 1))
    if (at == 0 || input[at - 1] != kMagicBegin) return true;
  return false;
}

std::string compress(std::string_view text, const char* name, Random& random) {
  const std::unique_ptr<Compressor> compressor = make_compressor(name);
  std::string output;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, some_size(random, kMaxPiece));
    text.remove_prefix(piece.size());
    compressor->compress(
        piece, random() % 4 == 0 ? Compressor::Rest::flush : Compressor::Rest::keep, output);
  }
  compressor->compress("", Compressor::Rest::end, output);
  return output;
}

}  // namespace

/// Mutates the input; sometimes compresses it, or concatenates two compressed texts.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mutate(bytes, max_size);
  if (random() % 16 == 0) {
    const char* const name = kNames[random() % 2];
    const std::string compressed = compress(bytes, name, random);
    bytes =
        random() % 2 == 0 ? compressed : compressed + compress(bytes.substr(0, 4), name, random);
  }
  return hand_over(bytes, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (has_former_frame(input)) return 0;
  Random random(static_cast<unsigned>(std::hash<std::string_view>()(input)));
  for (const char* name : kNames) {
    const Expanded expanded = expand(input, name, nullptr);
    check(agree(expanded, expand(input, name, &random)), "small pieces expand to another text");
    check_expand_text(input, name, expanded);
  }
  if (size % 8 != 0) return 0;
  const char* const name = kNames[random() % 2];
  const Expanded again = expand(compress(input, name, random), name, &random);
  check(again.text == input.substr(0, kMaxText) && !again.damaged,
        "a text is another when it is compressed and expanded");
  check(again.may_end || size >= kMaxText, "what was compressed does not end");
  return 0;
}
