#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The rows of a batch's sentences: the tokens of each source domain, the words of each shortlist,
/// and the data of maps and inputs, found by name and checked against a graph's declarations.
class BatchRows {
 public:
  explicit BatchRows(const Graph& declarations);

  /// Throws Error for a name that the graph does not declare, for missing data, for lengths that
  /// differ or do not add up, and for a word that is not in a map's vocabulary. `graph` has the
  /// declarations given to the constructor.
  void set(const Graph& graph, const Batch& batch);

  std::int64_t sentences() const { return static_cast<std::int64_t>(sentences_); }
  /// The first row of each sentence in a source or shortlist domain, and the number of rows.
  std::span<const std::int32_t> begin(DomainId domain) const { return begin_[domain.index]; }
  /// The words of a map from a source, sentence or shortlist domain.
  std::span<const std::int32_t> words(MapId map) const { return words_[map.index]; }
  std::span<const float> numbers(std::size_t input) const { return numbers_[input]; }
  /// The rows of the longest sentence in any domain of `kind`.
  std::int32_t longest(const Graph& graph, DomainKind kind) const;

 private:
  void clear();
  void set_named(const Graph& graph, const BatchInput& input);
  void set_lengths(const Graph& graph, DomainId id, const BatchInput& input);
  void set_unnamed(const Graph& graph, const Batch& batch);
  void set_lists(DomainId domain, std::span<const WordIds> lists);
  void set_words(const Graph& graph, MapId id, std::span<const std::int32_t> words);
  void expect_all(const Graph& graph) const;

  std::size_t sentences_ = 0;
  std::vector<std::vector<std::int32_t>> begin_;  ///< by domain; empty: not set
  std::vector<std::string> lengths_from_;         ///< by domain: the input that gave the lengths
  std::vector<std::vector<std::int32_t>> words_;  ///< by map
  std::vector<bool> has_words_;
  std::vector<std::span<const float>> numbers_;  ///< by input
  std::vector<bool> has_numbers_;
  std::vector<std::int32_t> joined_;  ///< scratch
};

}  // namespace fuselage
