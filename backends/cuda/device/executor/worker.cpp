#include "backends/cuda/device/executor/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/cuda/device/executor/arrivals.h"
#include "backends/cuda/device/executor/fetched_outputs.h"
#include "backends/cuda/device/executor/number_check.h"
#include "backends/cuda/device/executor/placed_imports.h"
#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/runtime/device.h"
#include "backends/cuda/device/runtime/graph_cache.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/device/search/beam_search.h"
#include "backends/cuda/device/search/search_in_places.h"
#include "backends/cuda/device/search/search_loop.h"
#include "backends/cuda/layout.h"
#include "fuselage/backends/search.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

// Sizes per octave: of memory, and of the row bounds of launches.
constexpr std::int64_t kLayoutsPerOctave = 2;
constexpr std::int64_t kBucketsPerOctave = 4;

constexpr std::size_t kMaxGraphs = 128;

/// Places of the outputs that a search reads.
struct SearchOutputs {
  std::size_t scores = 0, words = 0;
};

std::optional<SearchOutputs> search_outputs(const Graph& graph) {
  std::optional<std::size_t> scores, words;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i].name == kBestScores) scores = i;
    if (graph.outputs()[i].name == kBestWords) words = i;
  }
  if (!scores || !words) return std::nullopt;
  return SearchOutputs{*scores, *words};
}

bool has_shortlists(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::shortlist) return true;
  return false;
}

/// A search on the device and the loop that drives it.
struct Search {
  Search(const Graph& graph, const Stream& stream) : steps(graph), loop(steps, stream) {}
  DeviceSearch steps;
  SearchLoop loop;
};

/// Selects the device before other members use it.
struct OnDevice {
  explicit OnDevice(int number) { use_device(number); }
};

class CudaWorker : public Worker {
 public:
  CudaWorker(const DeviceProgram& source, const DeviceProgram& step, const OutputPlaces& places,
             const TensorMap& load_outputs, int device, const WorkerOptions& options,
             std::atomic<std::size_t>& arena)
      : options_(options),
        device_(device),
        on_device_(device),
        graph_(step.plan().graph),
        source_program_(source),
        source_graph_(source.plan().graph),
        places_(places),
        load_outputs_(load_outputs),
        frame_(graph_),
        blas_(options.blas),
        cudnn_(options.blas.tf32),
        rows_(graph_),
        source_(source, rows_, stream_, blas_, cudnn_),
        step_(step, rows_, stream_, blas_, cudnn_),
        source_outputs_(source_graph_, source_, stream_),
        outputs_(graph_, step_, stream_),
        imports_(step.plan()),
        best_(search_outputs(graph_)),
        arena_(arena) {}

  /// Waits for the stream before memory is freed.
  ~CudaWorker() override { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

  void begin(const Batch& batch, const StepLimits& limits) override {
    use_device(device_);
    frame_.begin_batch(batch);
    frame_.reserve_steps(limits);
    run_source_in_memory(layout_of(frame_, batch.size(), limits));
    source_outputs_.invalidate();
    outputs_.invalidate();
  }

  /// Lists of words are not adjacent in a store of pages, and a GPU has no memory for whole ones.
  bool has_places() const override { return imports_.can_open() && !has_shortlists(graph_); }

  void open(const PlaceLimits& limits) override {
    use_device(device_);
    try {
      or_release([&] { open_store(limits); });
    } catch (const OutOfMemory&) {
      // The memory of earlier batches is free now.
      or_release([&] { open_store(limits); });
    }
    source_outputs_.invalidate();
    outputs_.invalidate();
  }

  void admit(const Batch& batch, std::span<const std::int32_t> places) override {
    use_device(device_);
    arrivals_->run(batch);
    frame_.admit(arrivals_->frame(), places);
    arrivals_->place(frame_, rows_.rows(layout_.rows), imports_, stream_);
    report_memory();
  }

  PlaceSearch* search_places(const SearchSettings& settings) override {
    if (!best_ || settings.beam_size > DeviceSearch::kMaxBeam) return nullptr;
    use_device(device_);
    or_release([&] {
      stream_.synchronize();
      graphs_.clear();
      place_search_.reset();
      place_search_.emplace(
          frame_, limits_, settings, device_, stream_,
          [this](std::int32_t hypotheses) { run_step(SearchOn::device, hypotheses); });
    });
    return &*place_search_;
  }

  void release(std::int32_t place) override {
    frame_.release(place);
    if (place_search_) place_search_->release(place);
  }

  void step(const StepInput& input) override {
    use_device(device_);
    frame_.begin_step(input);
    rows_.upload_step(frame_.table(), stream_);
    or_release([&] {
      run_step(SearchOn::host, static_cast<std::int32_t>(input.hypothesis_parent.size()));
    });
    outputs_.invalidate();
  }

  bool search(const SearchSettings& settings, SearchRecord& record) override {
    if (!best_ || settings.beam_size > DeviceSearch::kMaxBeam) return false;
    use_device(device_);
    or_release([&] { run_search(settings, record); });
    return true;
  }

  OutputRows<float> floats(std::size_t output) const override { return fetch<float>(output); }

  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return fetch<std::int32_t>(output);
  }

  std::size_t arena_bytes(BindingTime time) const override {
    if (time == BindingTime::load) return 0;
    return time == BindingTime::source ? source_.arena_bytes() : step_.arena_bytes();
  }

 private:
  /// Runs `f`. If memory is short, frees the memory of values, of which some may have grown
  /// already: a smaller batch needs less.
  template <typename F>
  void or_release(const F& f) {
    try {
      f();
    } catch (const OutOfMemory&) {
      release_memory();
      throw;
    }
  }

  void release_memory() {
    stream_.synchronize();
    graphs_.clear();
    layout_ = {};
    source_.release();
    step_.release();
    search_.reset();
    close();
  }

  /// Frees the memory that only a store needs. The stream must be idle.
  void close() {
    place_search_.reset();
    imports_.release();
    arrivals_.reset();
    is_open_ = false;
  }

  /// Where memory is short for this batch and all earlier ones, it may do for this one alone.
  void run_source_in_memory(const Layout& batch) {
    const bool had_batches = !layout_.rows.empty();
    try {
      or_release([&] { run_source(batch); });
    } catch (const OutOfMemory&) {
      if (!had_batches) throw;
      or_release([&] { run_source(batch); });
    }
  }

  void run_source(const Layout& batch) {
    if (is_open_ || !layout_.holds(batch)) grow_to(batch);
    rows_.upload_source(frame_, stream_);
    source_rows_ = rows_.rows(
        live_bounds(graph_, common(layout_, rounded(graph_, batch, kBucketsPerOctave)), 0));
    source_.reserve_workspace(source_rows_);
    source_.run(source_rows_);
    report_memory();
  }

  /// Grows all memory for this batch and all earlier ones. All addresses change.
  void grow_to(const Layout& batch) {
    stream_.synchronize();
    graphs_.clear();
    if (is_open_) layout_ = {};
    close();
    const Layout layout = joined(layout_, rounded(graph_, batch, kLayoutsPerOctave));
    layout_ = {};  // holds no batch, in case of an Error
    rows_.place(layout);
    source_.place(layout);
    step_.place(layout);
    for (std::size_t i = 0; i < source_graph_.outputs().size(); ++i)
      step_.set_import(source_graph_.outputs()[i].name, source_.output(i));
    layout_ = layout;
  }

  // --- Store ---

  /// Begins with an empty store, in place of batches. All addresses change.
  void open_store(const PlaceLimits& limits) {
    stream_.synchronize();
    graphs_.clear();
    place_search_.reset();
    search_.reset();
    limits_ = PlaceTables::with_pages(limits);
    frame_.open(limits_);
    const Layout layout = store_layout(frame_, limits_);
    layout_ = {};  // holds no batch, in case of an Error
    is_open_ = true;
    rows_.place(layout);
    step_.place(layout, /*in_store=*/true);
    imports_.open(layout, step_);
    layout_ = layout;
    // Now, since sentences that run later cannot be divided as a batch can.
    step_.reserve_workspace(step_rows(max_hypotheses(graph_, layout_)));
    rows_.upload_store(frame_.table(), stream_);
    if (!arrivals_) arrivals_.emplace(source_program_, options_.blas);
    report_memory();
  }

  /// Rounds a number of live hypotheses up to a bucket, so that few graphs are captured.
  std::int32_t bucket_of(std::int32_t hypotheses) const {
    const std::int64_t size = round_size(hypotheses, kBucketsPerOctave);
    return static_cast<std::int32_t>(std::min<std::int64_t>(size, max_hypotheses(graph_, layout_)));
  }

  /// The searching side: it makes a step's rows and reads its results.
  enum class SearchOn : std::uint8_t { host, device };

  void run_step(SearchOn side, std::int32_t hypotheses) {
    const std::int32_t bucket = bucket_of(hypotheses);
    const std::int64_t key = 2 * std::int64_t{bucket} + (side == SearchOn::device ? 1 : 0);
    if (!graphs_.knows(key)) reserve_step_workspace(bucket);
    const auto enqueue = [&] { enqueue_step(side, bucket, nullptr); };
    if (options_.eager)
      enqueue();
    else
      graphs_.run(stream_, key, enqueue);
  }

  /// Captured graphs hold the workspace's address, so they are dropped before it moves or fails to.
  void reserve_step_workspace(std::int32_t hypotheses) {
    const DeviceRows rows = step_rows(hypotheses);
    if (step_.has_workspace(rows)) return;
    stream_.synchronize();
    graphs_.clear();
    step_.reserve_workspace(rows);
    report_memory();
  }

  DeviceRows step_rows(std::int32_t hypotheses) const {
    DeviceRows rows = rows_.rows(live_bounds(graph_, layout_, hypotheses));
    if (place_search_) place_search_->tables().add_to(rows);
    return rows;
  }

  const DeviceSearch& device_search() const {
    return place_search_ ? place_search_->search() : search_->steps;
  }

  void enqueue_step(SearchOn side, std::int32_t hypotheses,
                    const ProgramRunner::Observer& observer) {
    const DeviceRows rows = step_rows(hypotheses);
    if (side == SearchOn::device) device_search().enqueue_rows(stream_.get(), rows);
    step_.run(rows, observer);
    if (side == SearchOn::device)
      device_search().enqueue_expand(stream_.get(), output_rows<float>(best_->scores),
                                     output_rows<std::int32_t>(best_->words));
  }

  template <typename T>
  RowsOf<T> output_rows(std::size_t number) const {
    const std::int64_t cols = step_.output_cols(number);
    return {.data = reinterpret_cast<const T*>(step_.output(number)),
            .stride = cols,
            .columns = static_cast<std::int32_t>(cols)};
  }

  // --- Search ---

  static std::int32_t longest(const SearchSettings& settings) {
    const auto& limits = settings.length_limits;
    return limits.empty() ? 0 : *std::max_element(limits.begin(), limits.end());
  }

  void run_search(const SearchSettings& settings, SearchRecord& record) {
    begin_search(settings);
    const auto sentences = static_cast<std::int32_t>(settings.length_limits.size());
    const SearchStatus status = search_->loop.run(
        sentences, sentences * settings.beam_size, longest(settings),
        [this](std::int32_t, std::int32_t hypotheses) { run_step(SearchOn::device, hypotheses); });
    if (status.error_step >= 0) report_numbers(settings, status.error_step);
    search_->steps.read(stream_.get(), record);
  }

  void begin_search(const SearchSettings& settings) {
    const auto sentences = static_cast<std::int32_t>(settings.length_limits.size());
    check(std::int64_t{sentences} * settings.beam_size <= max_hypotheses(graph_, layout_),
          "a search with more hypotheses than begin() reserved");
    if (!search_) search_.emplace(graph_, stream_);
    const auto size = [](auto count) {
      return static_cast<std::int32_t>(
          round_size(static_cast<std::int64_t>(count), kLayoutsPerOctave));
    };
    const DeviceSearch::Bounds& old = search_->steps.bounds();
    const DeviceSearch::Bounds bounds{
        .sentences = std::max(old.sentences, size(sentences)),
        .beam_size = std::max(old.beam_size, settings.beam_size),
        .steps = std::max(old.steps, size(longest(settings))),
        .suppressed = std::max(old.suppressed, size(settings.suppressed.size()))};
    if (bounds != old) {
      stream_.synchronize();
      graphs_.clear();
      search_->steps.reserve(bounds);
    }
    search_->steps.begin(stream_.get(), settings, sentences);
  }

  /// Runs the batch again up to the step with invalid scores, and throws Error with the first node
  /// of the source program or of that step with a result that is not finite.
  [[noreturn]] void report_numbers(const SearchSettings& settings, std::int32_t error_step) {
    NumberCheck check(stream_);
    source_.run(source_rows_, [&](const PlannedInstruction& in, const Run& run) {
      check.check_results(source_graph_, in, run);
    });
    begin_search(settings);
    const std::int32_t hypotheses = max_hypotheses(graph_, layout_);
    reserve_step_workspace(hypotheses);
    for (std::int32_t t = 0; t < error_step; ++t)
      enqueue_step(SearchOn::device, hypotheses, nullptr);
    enqueue_step(SearchOn::device, hypotheses, [&](const PlannedInstruction& in, const Run& run) {
      check.check_results(graph_, in, run);
    });
    stream_.synchronize();
    if (check.culprit().empty()) throw Error(scores_are_not_numbers(error_step));
    throw Error(fmt::format("{}; the first result that is not finite is that of {}",
                            scores_are_not_numbers(error_step), check.culprit()));
  }

  void report_memory() {
    std::size_t bytes = source_.arena_bytes() + step_.arena_bytes() + imports_.size_bytes();
    if (arrivals_) bytes += arrivals_->arena_bytes();
    arena_.store(bytes, std::memory_order_relaxed);
  }

  template <typename T>
  OutputRows<T> fetch(std::size_t output) const {
    use_device(device_);
    const OutputPlace& place = places_[output];
    const std::int64_t count = frame_.table().rows(place.domain);
    if (place.program == BindingTime::load) {
      const Tensor& tensor = load_outputs_.at(place.name);
      return {tensor.data<T>(), count, tensor.size() / std::max<std::int64_t>(count, 1)};
    }
    const bool is_source = place.program == BindingTime::source;
    FetchedOutputs& outputs = is_source ? source_outputs_ : outputs_;
    return {reinterpret_cast<const T*>(outputs.get(place.number, frame_.table())), count,
            (is_source ? source_ : step_).output_cols(place.number)};
  }

  const WorkerOptions options_;
  const int device_;
  OnDevice on_device_;
  const Graph& graph_;
  const DeviceProgram& source_program_;
  const Graph& source_graph_;
  const OutputPlaces& places_;
  const TensorMap& load_outputs_;
  RowFrame frame_;
  Stream stream_;
  Blas blas_;
  Cudnn cudnn_;
  DeviceRowMemory rows_;
  ProgramRunner source_, step_;
  mutable FetchedOutputs source_outputs_, outputs_;
  GraphCache graphs_{kMaxGraphs};
  PlacedImports imports_;
  std::optional<Arrivals> arrivals_;  ///< of an open store
  bool is_open_ = false;              ///< the memory holds a store
  std::optional<SearchOutputs> best_;
  std::optional<Search> search_;                ///< of batches
  PlaceLimits limits_;                          ///< of the store
  std::optional<SearchInPlaces> place_search_;  ///< of the store
  Layout layout_;
  DeviceRows source_rows_;  ///< rows of the current batch
  std::atomic<std::size_t>& arena_;
};

}  // namespace

std::unique_ptr<Worker> make_cuda_worker(const DeviceProgram& source, const DeviceProgram& step,
                                         const OutputPlaces& outputs, const TensorMap& load_outputs,
                                         int device, const WorkerOptions& options,
                                         std::atomic<std::size_t>& arena) {
  return std::make_unique<CudaWorker>(source, step, outputs, load_outputs, device, options, arena);
}

}  // namespace fuselage::cuda
