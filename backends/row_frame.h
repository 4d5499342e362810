#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/row_table.h"

namespace fuselage {

/// Word ids of one sentence, the end symbol included.
using WordIds = std::vector<std::int32_t>;

/// One step of a search: which hypotheses live, what they continue and which word each just took.
/// Parents are distinct; hypotheses of one parent need not be neighbours.
struct StepInput {
  std::span<const std::int32_t> parents;  ///< row of the last step's hypothesis; -1: a fresh start
  std::span<const std::int32_t> parent_sentence;    ///< sentence of each parent
  std::span<const std::int32_t> hypothesis_parent;  ///< row of the parent of each hypothesis
  std::span<const std::int32_t> words;      ///< word that each hypothesis just took; -1: none yet
  std::span<const std::int32_t> positions;  ///< number of words that each took before this step
};

/// How large a batch can grow, so that nothing is allocated while it is decoded.
struct StepLimits {
  std::vector<std::int32_t> hypotheses;  ///< most live hypotheses of each sentence
  std::vector<std::int32_t> steps;       ///< most steps of each sentence
};

/// Throws Error for a graph that reads several source texts: a batch has one.
void expect_one_source(const Graph& graph);

/// Keeps a RowTable for one batch: fills in what graphs declare, for any graph, from token ids and
/// from the search's choices.
class RowFrame {
 public:
  /// `graph` declares the domains and maps, one source domain at most; any program split from it
  /// has the same ones.
  explicit RowFrame(const Graph& graph);

  const RowTable& table() const { return table_; }
  const Graph& graph() const { return graph_; }

  /// Rows of source-time domains. Sentences must not be empty. A graph with a shortlist domain
  /// needs the words of each sentence's shortlist, ascending. Throws Error when a word id is beyond
  /// the vocabulary of a map.
  void begin_batch(std::span<const WordIds> sentences, std::span<const WordIds> shortlists = {});

  /// Tells max_rows() how far the steps of this batch go.
  void limit_steps(const StepLimits& limits);
  /// The same, and reserves storage for these steps.
  void reserve_steps(const StepLimits& limits);

  /// Rows of step-time domains. Allocates nothing within the reserved limits.
  void begin_step(const StepInput& input);

  /// Number of iterations of a scan in this batch: the length of the longest sentence.
  std::int64_t iterations(DomainId scan) const;
  /// Makes `t` the current iteration of the scan: its rows are the sentences that have a t-th
  /// token, longest first, so that a row keeps its number for as long as it lives.
  void begin_iteration(DomainId scan, std::int64_t t);

  /// The most rows that a domain has at any moment of this batch, within the reserved limits.
  std::int64_t max_rows(DomainId domain) const { return max_rows_[domain.index]; }

 private:
  /// Words of each sentence, one sentence after the other.
  struct SentenceWords {
    std::vector<std::int32_t> words;
    std::vector<std::int32_t> begin;  // per sentence, and one past the end

    void assign(std::span<const WordIds> sentences);
  };

  void sort_by_length(std::span<const WordIds> sentences);
  void fill_tokens(DomainId id, const SentenceWords& tokens);
  void fill_pairs(DomainId id);
  void forget_prefixes();
  void fill_words(MapId id, std::span<const std::int32_t> words);
  void extend_prefix(DomainId id);
  std::int32_t sentence_of(DomainId id, std::int64_t row) const;
  /// What the rows of a domain of this kind are: source or shortlist.
  const SentenceWords& tokens_of(DomainKind kind) const;

  Graph graph_;  // declarations only
  RowTable table_;
  SentenceWords source_, shortlist_;
  std::vector<std::int32_t> longest_first_;  // sentences by decreasing length
  std::vector<std::int64_t> max_rows_;
  // The chain of tokens that each prefix row continues; -1 ends it.
  std::vector<std::int32_t> prefix_previous_;
  std::vector<std::int32_t> prefix_position_;
};

}  // namespace fuselage
