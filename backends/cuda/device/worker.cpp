#include "backends/cuda/device/worker.h"

#include <algorithm>

#include "backends/cuda/device/device.h"
#include "backends/cuda/device/device_row_memory.h"
#include "backends/cuda/device/fetched_outputs.h"
#include "backends/cuda/device/graph_cache.h"
#include "backends/cuda/device/program_runner.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/layout.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

// Sizes between a power of two and the next: of memory, and of what kernels are launched for.
constexpr std::int64_t kLayoutsPerOctave = 2;
constexpr std::int64_t kBucketsPerOctave = 4;

constexpr std::size_t kMostGraphs = 128;

/// The device must be chosen before other members talk to it.
struct OnDevice {
  explicit OnDevice(int number) { use_device(number); }
};

class CudaWorker : public Worker {
 public:
  CudaWorker(const DeviceProgram& source, const DeviceProgram& step, const WorkerOptions& options,
             std::atomic<std::size_t>& arena)
      : options_(options),
        on_device_(options.device),
        graph_(step.plan().graph),
        source_graph_(source.plan().graph),
        frame_(graph_),
        blas_(options.blas),
        rows_(graph_),
        source_(source, rows_, stream_, blas_),
        step_(step, rows_, stream_, blas_),
        outputs_(graph_, step_, stream_),
        arena_(arena) {}

  /// What still runs must not lose its memory.
  ~CudaWorker() override { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

  void begin(std::span<const WordIds> sentences, std::span<const WordIds> shortlists,
             const StepLimits& limits) override {
    use_device(options_.device);
    frame_.begin_batch(sentences, shortlists);
    frame_.reserve_steps(limits);
    const Layout batch = layout_of(frame_, sentences, shortlists, limits);
    if (!layout_.holds(batch)) grow_to(batch);
    rows_.upload_source(frame_, stream_);
    run_source(common(layout_, rounded(graph_, batch, kBucketsPerOctave)));
    outputs_.forget();
  }

  void step(const StepInput& input) override {
    use_device(options_.device);
    frame_.begin_step(input);
    rows_.upload_step(frame_.table(), stream_);
    run_step(static_cast<std::int32_t>(input.hypothesis_parent.size()));
    outputs_.forget();
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
  /// Takes memory for this batch and all that there were. All addresses change.
  void grow_to(const Layout& batch) {
    stream_.synchronize();
    graphs_.clear();
    const Layout layout = joined(layout_, rounded(graph_, batch, kLayoutsPerOctave));
    layout_ = {};  // none holds if something fails
    rows_.place(layout);
    source_.place(layout);
    step_.place(layout);
    for (std::size_t i = 0; i < source_graph_.outputs().size(); ++i)
      step_.set_import(source_graph_.outputs()[i].name, source_.output(i));
    layout_ = layout;
  }

  void run_source(const Layout& batch) {
    const DeviceRows rows = rows_.rows(live_bounds(graph_, batch, 0));
    source_.reserve_workspace(rows);
    source_.run(rows);
    note_memory();
  }

  /// The least of few bounds on the live hypotheses of a step.
  std::int32_t bucket_of(std::int32_t hypotheses) const {
    const std::int64_t size = round_size(hypotheses, kBucketsPerOctave);
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(size, most_hypotheses(graph_, layout_)));
  }

  void run_step(std::int32_t hypotheses) {
    const std::int32_t bucket = bucket_of(hypotheses);
    const auto rows = [&] { return rows_.rows(live_bounds(graph_, layout_, bucket)); };
    if (!graphs_.knows(bucket) && step_.reserve_workspace(rows())) {
      graphs_.clear();
      note_memory();
    }
    const auto enqueue = [&] { step_.run(rows()); };
    if (options_.eager)
      enqueue();
    else
      graphs_.run(stream_, bucket, enqueue);
  }

  void note_memory() {
    arena_.store(source_.arena_bytes() + step_.arena_bytes(), std::memory_order_relaxed);
  }

  template <typename T>
  OutputRows<T> fetch(std::size_t output) const {
    use_device(options_.device);
    const DomainId domain = graph_.value(graph_.outputs()[output].value).type.domain;
    return {reinterpret_cast<const T*>(outputs_.get(output, frame_.table())),
            frame_.table().rows(domain), step_.output_cols(output)};
  }

  const WorkerOptions options_;
  OnDevice on_device_;
  const Graph& graph_;
  const Graph& source_graph_;
  RowFrame frame_;
  Stream stream_;
  Blas blas_;
  DeviceRowMemory rows_;
  ProgramRunner source_, step_;
  mutable FetchedOutputs outputs_;
  GraphCache graphs_{kMostGraphs};
  Layout layout_;
  std::atomic<std::size_t>& arena_;
};

}  // namespace

std::unique_ptr<Worker> make_cuda_worker(const DeviceProgram& source, const DeviceProgram& step,
                                         const WorkerOptions& options,
                                         std::atomic<std::size_t>& arena) {
  return std::make_unique<CudaWorker>(source, step, options, arena);
}

}  // namespace fuselage::cuda
