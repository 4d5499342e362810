#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/backends/batch_rows.h"
#include "fuselage/backends/place_limits.h"
#include "fuselage/base/api.h"
#include "fuselage/graph/distance_table.h"
#include "fuselage/graph/row_table.h"

namespace FUSELAGE_API fuselage {

class PlacedRows;

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

/// Whether a graph reads a source text. A graph that does not is a language model.
bool has_source(const Graph& graph);

/// Maintains the RowTable of a batch: computes the rows of all declared domains and maps from token
/// ids and from the search's choices.
///
/// The sentences of a step are those of one batch, which begin_batch() takes, or they come and go
/// (open(), admit(), release()): rows of a sentence are then in pages of a store, and only indexes
/// tell so. New rows of a prefix domain are computed at the beginning of its buffers, for the rows
/// that first_new() and rows() state, and copied to newest().
class RowFrame {
 public:
  /// `graph` declares the domains, maps and inputs; all programs split from it share them.
  explicit RowFrame(const Graph& graph);
  RowFrame(RowFrame&&) noexcept;
  ~RowFrame();

  const RowTable& table() const { return table_; }
  const Graph& graph() const { return graph_; }

  /// Sets the rows of source-time domains. Throws Error as BatchRows::set does.
  void begin_batch(const Batch& batch);
  void begin_batch(std::span<const WordIds> sentences, std::span<const WordIds> shortlists = {}) {
    begin_batch({.sentences = sentences, .shortlists = shortlists});
  }

  /// Sets the step limits that max_rows() uses.
  void limit_steps(const StepLimits& limits);
  /// The same, and reserves storage for these steps.
  void reserve_steps(const StepLimits& limits);

  /// Begins with an empty store of this size, and reserves storage.
  void open(const PlaceLimits& limits);
  bool is_open() const { return places_ != nullptr; }
  /// Gives the sentences of `batch`, a frame of the same declarations after begin_batch(), the rows
  /// of free places. Precondition: they fit the store.
  void admit(const RowFrame& batch, std::span<const std::int32_t> places);
  /// The row in the store of each row that a sentence, source or shortlist domain had in the batch
  /// that was admitted last.
  std::span<const std::int32_t> placed(DomainId domain) const { return placed_[domain.index]; }
  /// The rows of the store that a place has of a source or shortlist domain, in order.
  std::span<const std::int32_t> rows_of(DomainId domain, std::int32_t place) const;
  /// Frees the rows of a place.
  void release(std::int32_t place);

  /// Sets the rows of step-time domains. Allocates nothing within the reserved limits.
  void begin_step(const StepInput& input);

  /// The prefix row of the newest word of each hypothesis.
  std::span<const std::int32_t> newest() const { return newest_; }

  /// Number of iterations of a scan in this batch: the length of the longest sentence of its
  /// source.
  std::int64_t iterations(DomainId scan) const;
  /// Sets the current iteration of the scan to `t`: its rows are the sentences with a t-th token,
  /// longest first, so that a sentence keeps its row number.
  void begin_iteration(DomainId scan, std::int64_t t);

  /// The maximum number of rows of a domain during this batch, within the reserved limits.
  std::int64_t max_rows(DomainId domain) const { return max_rows_[domain.index]; }

  /// The rows of the longest sentence in any source or shortlist domain.
  std::int32_t longest(DomainKind kind) const { return batch_.longest(graph_, kind); }

 private:
  void sort_by_length(DomainId source);
  void fill_tokens(DomainId id);
  void fill_source_map(MapId id);
  void fill_positions(MapId id);
  void fill_neighbours(MapId id);
  void fill_tokens_at(MapId id);
  void fill_distances(MapId id);
  void fill_pairs(DomainId id);
  void add_token_pairs(const Domain& pairs, std::int64_t left, std::vector<std::int32_t>& right);
  void add_prefix_pairs(const Domain& pairs, std::int64_t left, std::vector<std::int32_t>& right);
  void forget_prefixes();
  void fill_words(MapId id, std::span<const std::int32_t> words);
  void reserve_step_rows();
  void place_rows(const RowFrame& batch, std::span<const std::int32_t> places);
  void place_map(MapId id, std::span<const std::int32_t> index);
  void extend_prefixes();
  void add_words(DomainId prefix);
  std::int32_t sentence_of(DomainId id, std::int64_t row) const;
  /// Bound on the pairs of all steps' hypotheses of a sentence with one another's words or tokens.
  std::int64_t max_pairs(const Domain& pairs, const StepLimits& limits) const;

  Graph graph_;  // declarations only
  RowTable table_;
  BatchRows batch_;
  std::vector<std::vector<std::int32_t>> longest_first_;  // by source: sentences by length
  std::vector<DistanceTable> distances_;                  // by map
  std::vector<std::int64_t> max_rows_;
  // The preceding prefix row of each prefix row; -1: none.
  std::vector<std::int32_t> prefix_previous_;
  std::vector<std::int32_t> prefix_position_;
  std::vector<std::int32_t> newest_, last_newest_;  // prefix rows of the hypotheses of a step
  std::unique_ptr<PlacedRows> places_;              // null: the sentences are those of one batch
  std::vector<std::vector<std::int32_t>> placed_;   // by domain
};

}  // namespace fuselage
