#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fuselage {

/// Finds the pieces that begin a text.
class PieceTrie {
 public:
  using Value = std::int32_t;  ///< not negative

  PieceTrie() : PieceTrie(std::vector<std::pair<std::string_view, Value>>()) {}

  /// Of a piece that occurs twice the last value counts. An empty piece is never found.
  explicit PieceTrie(std::vector<std::pair<std::string_view, Value>> pieces);

  /// Calls `action` with the length and the value of each piece that begins `text`, the shortest
  /// first.
  template <typename Action>
  void for_each_prefix(std::string_view text, Action action) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      at = child(at, static_cast<unsigned char>(text[i]));
      if (at == 0) return;
      if (nodes_[at].value >= 0) action(i + 1, nodes_[at].value);
    }
  }

 private:
  struct Node {
    std::uint32_t first = 0;  ///< its first child; the others follow, by their bytes
    Value value = -1;
    std::uint16_t children = 0;
    unsigned char byte = 0;
  };

  /// 0 if there is none: the root is no child.
  std::size_t child(std::size_t node, unsigned char byte) const;

  std::vector<Node> nodes_;
};

}  // namespace fuselage
