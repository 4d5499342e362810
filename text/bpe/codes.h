#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fuselage {

/// The merges of a byte-pair encoding.
class BpeCodes {
 public:
  /// Reads a file of codes; see parse_bpe.
  BpeCodes(std::string_view bytes, const std::string& name);

  /// The subwords of a word of valid UTF-8; views into `word`.
  std::vector<std::string_view> split(std::string_view word) const;

 private:
  using SymbolId = std::int32_t;  ///< -1: not in the codes

  struct Merge {
    std::uint32_t rank = 0;
    SymbolId result = -1;
  };

  class Merger;

  SymbolId intern(std::string_view symbol);
  SymbolId find(std::string_view symbol) const;
  const Merge* find_merge(SymbolId left, SymbolId right) const;
  void add_merge(std::string_view line, std::uint32_t rank, const std::string& where);

  /// The end of a word is a symbol by itself (version 0.1), or part of the last one.
  bool end_is_symbol_ = true;
  std::unordered_map<std::string, SymbolId> symbols_;
  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace fuselage
