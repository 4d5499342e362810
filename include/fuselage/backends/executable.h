#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/backends/place_limits.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/backends/search.h"
#include "fuselage/backends/usage.h"
#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// Rows of an output, valid until the worker runs again.
template <typename T>
struct OutputRows {
  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  std::span<const T> row(std::int64_t r) const {
    return {data + r * cols, static_cast<std::size_t>(cols)};
  }
};

/// How a back-end runs a node of a program, for display.
struct PlannedNode {
  NodeId node;
  std::string kernel;
  bool launched = false;  ///< false: a view without cost
  /// It runs by the reference evaluation of its op, for want of a kernel.
  bool on_reference = false;
};

/// Time that a worker spent, by index of a program's nodes.
struct NodeTime {
  double seconds = 0;
  std::uint64_t runs = 0;
  std::uint64_t rows = 0;  ///< computed in all runs
};

/// Time that the nodes of the source program and of the step program took.
struct Profile {
  std::vector<NodeTime> source, step;
  std::uint64_t batches = 0, steps = 0;  ///< how often the programs ran
};

/// Times of all workers of an executable, which can be read while they work. Thread-safe.
class SharedProfile {
 public:
  void add(const Profile& times);
  Profile times() const;

 private:
  mutable std::mutex mutex_;
  Profile times_;
};

/// Searches of sentences in the places of an open store that a worker runs by itself. They make the
/// same decisions as BeamSearch. Results come some steps after they are found, so that the device
/// need not wait for the host.
class PlaceSearch {
 public:
  virtual ~PlaceSearch() = default;

  /// Begins the searches of sentences that Worker::admit() gave these places, with the most words
  /// of each translation.
  virtual void begin(std::span<const std::int32_t> places,
                     std::span<const std::int32_t> length_limits) = 0;
  /// Runs a step of all searches, of which there is one; the places whose searches have ended.
  /// Throws Error when scores are not numbers.
  virtual std::span<const std::int32_t> step() = 0;
  /// The result of a search that has ended.
  virtual const SearchRecord& record(std::int32_t place) const = 0;
  /// Ends a search without a result; none if the place has no search.
  virtual void drop(std::int32_t place) = 0;
};

/// Runs an executable on one batch at a time, or on sentences that come and go. Owns all memory of
/// a run. Not thread-safe, but workers of one executable are independent.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Runs the source program on a batch and allocates memory for its steps. Throws Error for a
  /// batch that does not fit the graph (BatchRows::set).
  virtual void begin(const Batch& batch, const StepLimits& limits) = 0;
  /// The same for a graph with one text.
  void begin(std::span<const WordIds> sentences, const StepLimits& limits) {
    begin(Batch{.sentences = sentences}, limits);
  }

  /// Whether sentences can come and go: open(), admit() and release().
  virtual bool has_places() const { return false; }
  /// Begins with a store of this size without sentences, in place of a batch. Steps then name
  /// sentences by their places. Throws OutOfMemory.
  virtual void open(const PlaceLimits&);
  /// Runs the source program on a batch and gives its sentences free places of the store.
  /// Precondition: they fit. Throws as begin() does, and then changes nothing.
  virtual void admit(const Batch&, std::span<const std::int32_t> places);
  /// Begins to search in the places of the open store by itself, as search() does a batch, with all
  /// settings but the limits: these come with the sentences. Ends all searches in the store. No
  /// calls of step() are allowed then. nullptr: the back-end has no search of its own.
  virtual PlaceSearch* search_places(const SearchSettings&) { return nullptr; }
  /// Frees a place and its rows. No later step has hypotheses of its sentence.
  virtual void release(std::int32_t place);

  /// Runs the step program once. Allocates nothing in back-ends that guarantee it.
  virtual void step(const StepInput& input) = 0;

  /// Runs the whole search of the batch that begin() took, with the outputs kBestScores and
  /// kBestWords: makes the same decisions as BeamSearch, which drives step(). Returns false,
  /// without side effects, when the back-end has no search of its own. Throws Error with
  /// scores_are_not_numbers().
  virtual bool search(const SearchSettings&, SearchRecord&) { return false; }

  /// An output by the number that Executable::output gives: of the last step; of the batch, after
  /// begin(), if it does not depend on steps; at any time if it does not depend on a batch. A value
  /// without rows has one.
  virtual OutputRows<float> floats(std::size_t output) const = 0;
  virtual OutputRows<std::int32_t> integers(std::size_t output) const = 0;
  /// The floats as double; without rows if the back-end does not compute in double.
  virtual OutputRows<double> doubles(std::size_t) const { return {}; }
  /// Whether doubles() gives the outputs.
  virtual bool computes_in_double() const { return false; }

  /// Size in bytes of the memory of a program's values during this batch; 0 if the back-end does
  /// not count it.
  virtual std::size_t arena_bytes(BindingTime) const { return 0; }
};

/// A model compiled for one back-end: immutable, shared by all workers.
class Executable {
 public:
  virtual ~Executable() = default;

  /// The number of devices that workers are divided among.
  virtual std::size_t devices() const { return 1; }

  /// The number of workers for each device with which texts are translated fastest, where the
  /// device shows that, as a GPU; else 1.
  virtual std::size_t fastest_workers() const { return 1; }

  /// A worker on one of the devices, numbered from 0.
  virtual std::unique_ptr<Worker> make_worker(std::size_t device) const = 0;
  std::unique_ptr<Worker> make_worker() const { return make_worker(0); }

  /// The number of the output `name`, for Worker. Throws Error if the graph has none.
  virtual std::size_t output(std::string_view name) const = 0;

  /// The plan of a program, in execution order; empty for a back-end without plans.
  virtual std::vector<PlannedNode> plan(BindingTime) const { return {}; }

  /// Notes for the user from compilation.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Memory used so far; zero for a back-end that does not count it.
  virtual MemoryUse memory() const { return {}; }

  /// Hit statistics of the tables of frequent rows so far; empty without tables, and for a back-end
  /// that does not count.
  virtual std::vector<TableUse> table_use() const { return {}; }
};

}  // namespace fuselage
