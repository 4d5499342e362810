#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decoding/queue/refill_policy.h"
#include "decoding/queue/waiting_lines.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {

/// What a thread of a queue needs of the translator.
struct LineSearches {
  /// Most words of a line in any of its texts.
  std::function<std::size_t(const EncodedLine&)> words;
  /// Begins the searches of lines in their places.
  std::function<void(BeamSearch&, std::span<const EncodedLine>, std::span<const std::int32_t>)>
      admit;
  std::function<Translation(const EncodedLine&, NBest)> translation;
  /// Searches a batch of lines, where there are no places.
  std::function<std::vector<Translation>(BeamSearch&, std::vector<EncodedLine>&)> batch;
};

/// Figures that the threads of a queue add to.
struct QueueCounts {
  std::atomic<std::uint64_t> translated = 0, steps = 0, sentence_steps = 0;
};

/// One thread's loop: takes lines as places get free, runs steps, and hands results on.
class QueueThread {
 public:
  struct Size {
    std::size_t places;  ///< sentences at a time
    bool by_batch;       ///< there are no places: a batch at a time
    /// Places that have to be free before sentences begin beside others, so that they are encoded
    /// together.
    std::size_t together = 1;
    /// The average length of a sentence in words, for which places have memory.
    std::int64_t average_words = 64;
    Refill refill = Refill::by_cost;
  };

  QueueThread(BeamSearch& search, const LineSearches& lines, WaitingLines& waiting,
              QueueCounts& counts, Size size);

  /// Runs until the queue is closed; then cancels the lines that are under way.
  void run();

 private:
  struct Running {
    std::int32_t place;
    std::shared_ptr<QueuedLine> line;
  };

  /// The longest sentence and the longest prefix that the open store has room for, in words.
  struct Store {
    std::int64_t source_words = 0;      ///< 0: none is open
    std::optional<std::size_t> prefix;  ///< nullopt: sentences have no guides
  };

  void run_batch();
  void top_up();
  void admit(QueuedLines lines, std::vector<std::int32_t> places);
  std::optional<std::int32_t> reserve(const QueuedLine& line);
  void admit_one_by_one(const QueuedLines& lines, std::span<const std::int32_t> places);
  void open(std::int64_t source_words, std::optional<std::size_t> prefix);
  bool make_room_for(const QueuedLine& line);
  void drop_refused();
  void step();
  void finish_search(const QueuedLine& line, NBest hypotheses);
  void fail_all(const std::exception_ptr& error);
  void finish(const QueuedLine& line, Translation&& translation, const std::exception_ptr& error);
  /// Without the lines that are not to be translated any more, which it finishes.
  QueuedLines still_wanted(QueuedLines lines);

  BeamSearch& search_;
  const LineSearches& lines_;
  WaitingLines& waiting_;
  QueueCounts& counts_;
  Size size_;
  RefillPolicy policy_;
  Store store_;
  std::vector<Running> running_;
};

}  // namespace fuselage
