#include "text/tokenizers/piece_trie.h"

#include <algorithm>

namespace fuselage {

PieceTrie::PieceTrie(std::vector<std::pair<std::string_view, Value>> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  /// A node whose children are to be made: the pieces that begin with its path.
  struct Open {
    std::size_t node, begin, end, depth;
  };
  nodes_.emplace_back();
  std::vector<Open> level = {{0, 0, pieces.size(), 0}}, next;
  for (; !level.empty(); level.swap(next), next.clear()) {
    for (const Open& open : level) {
      std::size_t at = open.begin;
      // The pieces that end here come first.
      for (; at < open.end && pieces[at].first.size() == open.depth; ++at)
        nodes_[open.node].value = pieces[at].second;
      nodes_[open.node].first = static_cast<std::uint32_t>(nodes_.size());
      while (at < open.end) {
        const auto byte = static_cast<unsigned char>(pieces[at].first[open.depth]);
        const std::size_t begin = at;
        while (at < open.end && static_cast<unsigned char>(pieces[at].first[open.depth]) == byte)
          ++at;
        next.push_back({nodes_.size(), begin, at, open.depth + 1});
        nodes_.push_back({.byte = byte});
        ++nodes_[open.node].children;
      }
    }
  }
}

std::size_t PieceTrie::child(std::size_t node, unsigned char byte) const {
  const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].first);
  const auto end = begin + nodes_[node].children;
  const auto found = std::lower_bound(
      begin, end, byte, [](const Node& each, unsigned char wanted) { return each.byte < wanted; });
  return found != end && found->byte == byte ? static_cast<std::size_t>(found - nodes_.begin()) : 0;
}

}  // namespace fuselage
