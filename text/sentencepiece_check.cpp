#include "text/sentencepiece_check.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace fuselage {
namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint64_t kNormalizerSpec = 3;
constexpr std::uint64_t kDenormalizerSpec = 5;
constexpr std::uint64_t kPrecompiledCharsmap = 2;

bool read_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// Contents of the length-delimited fields of that number, by the protocol buffers wire format.
/// Stops where the bytes break it: the library then refuses them itself.
std::vector<std::string_view> fields(std::string_view message, std::uint64_t number) {
  std::vector<std::string_view> found;
  std::uint64_t key = 0;
  while (!message.empty() && read_varint(message, key)) {
    std::uint64_t size = 0;
    switch (key & 7) {
      case 0:
        if (!read_varint(message, size)) return found;
        continue;
      case 1:
        size = 8;
        break;
      case 2:
        if (!read_varint(message, size)) return found;
        break;
      case 5:
        size = 4;
        break;
      default:
        return found;
    }
    if (size > message.size()) return found;
    if ((key & 7) == 2 && key >> 3 == number) found.push_back(message.substr(0, size));
    message.remove_prefix(size);
  }
  return found;
}

/// A charsmap is the size of a double-array trie (Darts), the trie, and the texts that its leaves
/// point into, each ended by a NUL. Looking up a byte goes from unit i to unit (i ^ offset) ^ byte.
std::string damage_of_charsmap(std::string_view charsmap) {
  if (charsmap.empty()) return "";
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() <= sizeof(trie_bytes)) return "its normalization table is cut short";
  std::memcpy(&trie_bytes, charsmap.data(), sizeof(trie_bytes));
  charsmap.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes >= charsmap.size() || trie_bytes % 4 != 0 || trie_bytes == 0)
    return "its normalization table is cut short";
  const std::string_view texts = charsmap.substr(trie_bytes);
  if (texts.back() != '\0') return "the texts of its normalization table have no end";
  const std::uint32_t count = trie_bytes / 4;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t unit = 0;
    std::memcpy(&unit, charsmap.data() + std::size_t{i} * 4, 4);
    constexpr std::uint32_t kLeaf = 1u << 31;
    if (unit & kLeaf) {
      if ((unit & ~kLeaf) >= texts.size()) return "a leaf of its normalization table leads astray";
      continue;
    }
    const std::uint32_t offset = (unit >> 10) << ((unit & (1u << 9)) >> 6);
    if (((i ^ offset) | 0xffu) >= count) return "a branch of its normalization table leads astray";
  }
  return "";
}

}  // namespace

std::string damage_of_normalizer(std::string_view model) {
  for (const std::uint64_t number : {kNormalizerSpec, kDenormalizerSpec})
    for (const std::string_view spec : fields(model, number))
      for (const std::string_view charsmap : fields(spec, kPrecompiledCharsmap))
        if (std::string damage = damage_of_charsmap(charsmap); !damage.empty()) return damage;
  return "";
}

}  // namespace fuselage
