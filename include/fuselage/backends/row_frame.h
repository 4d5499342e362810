#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/row_table.h"

namespace FUSELAGE_API fuselage {

/// Word ids of one sentence, the end symbol included.
using WordIds = std::vector<std::int32_t>;

/// One step of a search: the live hypotheses, their parents and last words. Parents are distinct;
/// hypotheses of one parent need not be adjacent.
struct StepInput {
  std::span<const std::int32_t> parents;  ///< row of the last step's hypothesis; -1: initial state
  std::span<const std::int32_t> parent_sentence;    ///< sentence of each parent
  std::span<const std::int32_t> hypothesis_parent;  ///< row of the parent of each hypothesis
  std::span<const std::int32_t> words;              ///< last word of each hypothesis; -1: none yet
  std::span<const std::int32_t> positions;          ///< number of words before this step
};

/// Upper bounds on a batch, so that decoding it allocates nothing.
struct StepLimits {
  std::vector<std::int32_t> hypotheses;  ///< maximum live hypotheses of each sentence
  std::vector<std::int32_t> steps;       ///< maximum steps of each sentence
};

/// Throws Error for a graph with several source texts, since a batch has one.
void expect_one_source(const Graph& graph);

/// Whether a graph reads a source text. A graph that does not is a language model.
bool has_source(const Graph& graph);

/// Maintains the RowTable of a batch: computes the rows of all declared domains and maps from token
/// ids and from the search's choices.
class RowFrame {
 public:
  /// `graph` declares the domains and maps, with at most one source domain; all programs split from
  /// it share them.
  explicit RowFrame(const Graph& graph);

  const RowTable& table() const { return table_; }
  const Graph& graph() const { return graph_; }

  /// Sets the rows of source-time domains. Sentences may be empty only if the graph has no source
  /// domain. A graph with a shortlist
  /// domain needs each sentence's shortlist, in ascending order. Throws Error if a word id is out
  /// of the range of a map's vocabulary.
  void begin_batch(std::span<const WordIds> sentences, std::span<const WordIds> shortlists = {});

  /// Sets the step limits that max_rows() uses.
  void limit_steps(const StepLimits& limits);
  /// The same, and reserves storage for these steps.
  void reserve_steps(const StepLimits& limits);

  /// Sets the rows of step-time domains. Allocates nothing within the reserved limits.
  void begin_step(const StepInput& input);

  /// Number of iterations of a scan in this batch: the length of the longest sentence.
  std::int64_t iterations(DomainId scan) const;
  /// Sets the current iteration of the scan to `t`: its rows are the sentences with a t-th token,
  /// longest first, so that a sentence keeps its row number.
  void begin_iteration(DomainId scan, std::int64_t t);

  /// The maximum number of rows of a domain during this batch, within the reserved limits.
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
  /// The words that are the rows of a source or shortlist domain.
  const SentenceWords& tokens_of(DomainKind kind) const;

  Graph graph_;  // declarations only
  RowTable table_;
  SentenceWords source_, shortlist_;
  std::vector<std::int32_t> longest_first_;  // sentences by decreasing length
  std::vector<std::int64_t> max_rows_;
  // The preceding prefix row of each prefix row; -1: none.
  std::vector<std::int32_t> prefix_previous_;
  std::vector<std::int32_t> prefix_position_;
};

}  // namespace fuselage
