#include "backends/cpu/executable.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/runtime/placed_imports.h"
#include "backends/cpu/runtime/program.h"
#include "backends/cpu/runtime/runner.h"
#include "backends/cpu/runtime/sampled_profile.h"
#include "backends/cpu/runtime/team.h"
#include "backends/cpu/simd/table.h"
#include "backends/cpu/weights/weight_cache.h"
#include "backends/cpu/weights/weight_region.h"
#include "backends/output_places.h"
#include "base/machine/build_id.h"
#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/passes/rewrite/rewriter.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage {
namespace {

using cpu::Program;
using cpu::ProgramRunner;

class CpuWorker : public Worker {
 public:
  CpuWorker(const Program& source, const Program& step, const OutputPlaces& outputs,
            const TensorMap& load_outputs, const cpu::KernelTable& kernels,
            const CpuOptions& options, std::atomic<std::size_t>& arena)
      : source_graph_(source.plan.graph),
        step_graph_(step.plan.graph),
        outputs_(outputs),
        load_outputs_(load_outputs),
        frame_(step_graph_),
        arriving_(step_graph_),
        team_(options.threads_per_sentence > 1
                  ? std::make_unique<cpu::Team>(options.threads_per_sentence)
                  : nullptr),
        source_(source, kernels, team_.get()),
        step_(step, kernels, team_.get()),
        imports_(step.plan),
        profile_(options.profile),
        sampled_(options.shared_profile),
        arena_(arena) {
    if (!profile_) return;
    source_.set_profile(&profile_->source);
    step_.set_profile(&profile_->step);
  }

  void begin(const Batch& batch, const StepLimits& limits) override {
    expect_stack();
    frame_.begin_batch(batch);
    frame_.limit_steps(limits);
    source_.plan_batch(frame_);
    step_.plan_batch(frame_);
    try {
      frame_.reserve_steps(limits);
      source_.begin_batch(frame_);
      step_.begin_batch(frame_);
    } catch (const std::bad_alloc&) {
      refuse_batch(batch, limits);
    } catch (const std::length_error&) {
      refuse_batch(batch, limits);
    }
    count_arena();
    run_source(frame_, batch.size());
    const auto& outputs = source_graph_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      step_.set_import(outputs[i].name, source_.output(i));
    step_.begin_kernels(frame_);
    step_.add_sentences(frame_, all_sentences_);
  }

  bool has_places() const override { return imports_.can_open() && step_.takes_more_sentences(); }

  void open(const PlaceLimits& limits) override {
    expect_stack();
    try {
      frame_.open(limits);
      step_.plan_batch(frame_);
      step_.begin_batch(frame_);
      imports_.open(frame_, step_);
      step_.begin_kernels(frame_);
    } catch (const std::bad_alloc&) {
      refuse_places(limits);
    } catch (const std::length_error&) {
      refuse_places(limits);
    }
    count_arena();
  }

  void admit(const Batch& batch, std::span<const std::int32_t> places) override {
    expect_stack();
    arriving_.begin_batch(batch);
    source_.plan_batch(arriving_);
    try {
      source_.begin_batch(arriving_);
    } catch (const std::bad_alloc&) {
      refuse_batch(batch, {});
    }
    count_arena();
    run_source(arriving_, batch.size());
    frame_.admit(arriving_, places);
    const auto& outputs = source_graph_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      imports_.keep(outputs[i].name, source_.output(i), frame_);
    step_.add_sentences(frame_, places);
  }

  void release(std::int32_t place) override { frame_.release(place); }

  void step(const StepInput& input) override {
    expect_stack();
    frame_.begin_step(input);
    if (!profile_) return sampled_.run_step(step_, frame_);
    step_.run(frame_);
    ++profile_->steps;
  }

  OutputRows<float> floats(std::size_t output) const override { return rows<float>(output); }

  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return rows<std::int32_t>(output);
  }

  std::size_t arena_bytes(BindingTime time) const override {
    if (time == BindingTime::load) return 0;
    return time == BindingTime::source ? source_.arena_bytes() : step_.arena_bytes();
  }

 private:
  void run_source(RowFrame& frame, std::size_t sentences) {
    all_sentences_.resize(sentences);
    std::iota(all_sentences_.begin(), all_sentences_.end(), 0);
    source_.begin_kernels(frame);
    source_.add_sentences(frame, all_sentences_);
    if (!profile_) return sampled_.run_source(source_, frame);
    source_.run(frame);
    ++profile_->batches;
  }

  void count_arena() {
    arena_.store(source_.capacity() + step_.capacity() + imports_.size_bytes(),
                 std::memory_order_relaxed);
  }

  [[noreturn]] void refuse_places(const PlaceLimits& limits) const {
    throw OutOfMemory(fmt::format(
        "there is no memory for {:.1f} MB, which places for {} sentences of {} hypotheses need, "
        "with {} source words and {} words of hypotheses together; use fewer places, a smaller "
        "beam or shorter sentences",
        static_cast<double>(step_.arena_bytes() + imports_.size_bytes()) / 1e6, limits.sentences,
        limits.hypotheses, limits.source_rows, limits.words));
  }

  [[noreturn]] void refuse_batch(const Batch& batch, const StepLimits& limits) const {
    std::size_t words = 0;
    for (const WordIds& sentence : batch.sentences) words += sentence.size();
    for (const BatchInput& input : batch.inputs)
      words += static_cast<std::size_t>(
          std::accumulate(input.lengths.begin(), input.lengths.end(), std::int64_t{0}));
    const auto& steps = limits.steps;
    throw OutOfMemory(fmt::format(
        "there is no memory for {:.1f} MB, which a batch of {} sentences of {} words needs with {} "
        "hypotheses of at most {} words; use smaller batches, a smaller beam or shorter sentences",
        static_cast<double>(source_.arena_bytes() + step_.arena_bytes()) / 1e6, batch.size(), words,
        std::accumulate(limits.hypotheses.begin(), limits.hypotheses.end(), std::int64_t{0}),
        steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end())));
  }

  template <typename T>
  OutputRows<T> rows(std::size_t output) const {
    const OutputPlace& place = outputs_[output];
    const std::int64_t count = frame_.table().rows(place.domain);
    if (place.program == BindingTime::load) {
      const Tensor& tensor = load_outputs_.at(place.name);
      return {tensor.data<T>(), count, tensor.size() / std::max<std::int64_t>(count, 1)};
    }
    const ProgramRunner& runner = place.program == BindingTime::source ? source_ : step_;
    return {reinterpret_cast<const T*>(runner.output(place.number)), count,
            runner.output_cols(place.number)};
  }

  const Graph& source_graph_;
  const Graph& step_graph_;
  const OutputPlaces& outputs_;
  const TensorMap& load_outputs_;
  RowFrame frame_;
  RowFrame arriving_;  ///< of the sentences that are admitted to an open store
  std::unique_ptr<cpu::Team> team_;
  ProgramRunner source_, step_;
  cpu::PlacedImports imports_;
  std::vector<std::int32_t> all_sentences_;  ///< of a batch: 0, 1, …
  Profile* profile_;
  cpu::SampledProfile sampled_;
  std::atomic<std::size_t>& arena_;
};

/// Runs the load program once, at the active level; adds its results to the weights.
TensorMap run_load_program(const Graph& program, TensorMap weights,
                           std::vector<PlannedNode>& planned) {
  if (program.outputs().empty()) return weights;
  cpu::WeightRegion read;
  const auto made = cpu::make_program(program, read, cpu::kernel_set());
  read.make_apart(weights);
  planned = planned_nodes(made->plan);
  RowFrame frame(program);
  ProgramRunner runner(*made, cpu::kernels());
  runner.plan_batch(frame);
  runner.begin_batch(frame);
  runner.begin_kernels(frame);
  runner.give_back_weights();
  runner.run(frame);
  std::map<ValueId, Tensor> taken;
  for (std::size_t i = 0; i < program.outputs().size(); ++i) {
    const Output& output = program.outputs()[i];
    const auto [at, is_new] = taken.try_emplace(output.value);
    if (is_new) {
      cpu::WeightType type = cpu::weight_type(program, output.value, output.name);
      const std::size_t bytes = Tensor(type.dtype, type.shape, nullptr).size_bytes();
      at->second = Tensor(type.dtype, std::move(type.shape), runner.take_output(i, bytes));
    }
    weights.insert_or_assign(output.name, at->second);
  }
  return weights;
}

/// An address in the library that defines an op.
const void* code_of(const OpDef& op) {
  if (op.row) return reinterpret_cast<const void*>(op.row);
  if (op.evaluate_f32) return reinterpret_cast<const void*>(op.evaluate_f32);
  return reinterpret_cast<const void*>(op.infer);
}

/// The build IDs of the libraries whose code makes a region: Fuselage and the libraries of the ops
/// in the programs and of registered kernels. nullopt: one of them has none.
std::optional<std::set<std::string>> build_ids(const Programs& programs) {
  std::set<const void*> code = {reinterpret_cast<const void*>(&load_cpu)};
  for (const cpu::KernelEntry* kernel : cpu::registered_kernels())
    code.insert(reinterpret_cast<const void*>(kernel->make));
  for (const Graph* program : {&programs.load, &programs.source, &programs.step})
    for (const NodeId id : program->nodes()) {
      const Node& node = program->node(id);
      code.insert(code_of(*node.op));
      if (!node.has<op::Expression>()) continue;
      for (const auto& step : parse_expression(node.as<op::Expression>().expression).steps)
        code.insert(code_of(*step.op));
    }
  std::set<std::string> ids;
  for (const void* address : code) ids.insert(build_id_of(address));
  if (ids.contains("")) return std::nullopt;
  return ids;
}

/// Hashes everything that the bytes of a region depend on: the weights, the programs and the code,
/// identified by build IDs. The level is included since floating-point products, and so tables,
/// differ between levels; the C library, since the load program calls its functions.
ContentHash content_of(const Programs& programs, const TensorMap& weights,
                       const cpu::WeightRegion& region, const std::set<std::string>& build_ids) {
  ContentHash hash;
  for (const std::string& id : build_ids) hash.add(id);
  hash.add(libc_version());
  hash.add(cpu::active_isa());
  for (const Graph* program : {&programs.load, &programs.source, &programs.step})
    hash.add(print_graph(*program));
  region.add_to(hash);
  for (const auto& [name, tensor] : weights) {
    hash.add(name);
    hash.add(to_string(tensor.dtype()));
    hash.add(shape_to_string(tensor.shape()));
    const DeferredTensor* source = tensor.source();
    hash.add(source ? source->conversion : "");
    if (source)
      hash.add(source->stored);
    else
      hash.add(tensor.bytes(), tensor.size_bytes());
  }
  return hash;
}

TableUse use_of(const Graph& graph, NodeId lookup, const cpu::LookupCount& count) {
  const Node& node = graph.node(lookup);
  const Type& table = graph.value(node.operands[2]).type;
  const DomainId vocabulary = graph.value(node.operands[0]).type.domain;
  return {.product = fmt::format("{}", fmt::join(origins_of(graph, lookup), ", ")),
          .rows = table.dims[0],
          .entries = graph.domain(vocabulary).size,
          .lookups = count.lookups,
          .hits = count.hits};
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(const Programs& programs, TensorMap weights, const CpuOptions& options)
      : kernels_(cpu::kernels()), outputs_(programs), options_(options) {
    const KernelSet kernels = cpu::kernel_set(options.kernels);
    source_ = cpu::make_program(programs.source, weights_, kernels);
    step_ = cpu::make_program(programs.step, weights_, kernels);
    note_reference_ops();
    if (options.weights_cache.empty())
      weights_.make(load(programs.load, std::move(weights)), /*may_stay=*/true);
    else
      find_or_make(programs, std::move(weights), options.weights_cache);
  }

  std::unique_ptr<Worker> make_worker(std::size_t) const override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<CpuWorker>(*source_, *step_, outputs_, load_outputs_, kernels_,
                                       options_, arenas_.emplace_back(0));
  }

  std::size_t output(std::string_view name) const override { return outputs_.number(name); }

  std::vector<PlannedNode> plan(BindingTime time) const override {
    if (time == BindingTime::load) return load_;
    return planned_nodes((time == BindingTime::source ? source_ : step_)->plan);
  }

  std::vector<std::string> notes() const override { return notes_; }

  MemoryUse memory() const override {
    MemoryUse use{.matrices = weights_.packed_bytes(),
                  .rows = weights_.size_bytes() - weights_.packed_bytes(),
                  .file = cache_file_};
    const std::lock_guard lock(mutex_);
    use.arenas.assign(arenas_.begin(), arenas_.end());
    return use;
  }

  std::vector<TableUse> table_use() const override {
    std::vector<TableUse> tables;
    for (const Program* program : {source_.get(), step_.get()})
      for (std::size_t i = 0; i < program->kernels.size(); ++i) {
        const cpu::Kernel* kernel = program->kernels[i].get();
        if (const auto count = kernel ? kernel->lookups() : std::nullopt)
          tables.push_back(use_of(program->plan.graph, program->plan.instructions[i].node, *count));
      }
    return tables;
  }

 private:
  /// Runs the load program, and keeps those of its results that are outputs of the graph.
  TensorMap load(const Graph& program, TensorMap weights) {
    TensorMap results = run_load_program(program, std::move(weights), load_);
    for (std::size_t i = 0; i < outputs_.load_outputs(); ++i) {
      const std::string& name = program.outputs()[i].name;
      load_outputs_.insert_or_assign(name, results.at(name));
    }
    return results;
  }

  void find_or_make(const Programs& programs, TensorMap weights, const std::string& directory) {
    const auto ids = build_ids(programs);
    if (!ids) {
      add_note(
          "weights are not cached: this program or an extension was linked without a build ID");
      weights_.make(load(programs.load, std::move(weights)), /*may_stay=*/true);
      return;
    }
    const cpu::WeightCache cache(directory, content_of(programs, weights, weights_, *ids));
    cpu::CachedBytes cached = cache.find(weights_.size_bytes());
    add_note(cached.note);
    if (cached.bytes && outputs_.load_outputs() > 0) load(programs.load, weights);
    if (!cached.bytes) {
      weights_.make(load(programs.load, std::move(weights)));
      if (cached.refused) return;
      cached = cache.store(
          {reinterpret_cast<const char*>(weights_.bytes().get()), weights_.size_bytes()});
      add_note(cached.note);
    }
    if (!cached.bytes) return;
    weights_.set_bytes(cached.bytes);
    cache_file_ = cache.path();
  }

  /// One note with the ops of the source and step programs that run by their reference evaluation.
  void note_reference_ops() {
    std::set<std::string_view> ops;
    for (const Program* program : {source_.get(), step_.get()})
      for (const PlannedInstruction& in : program->plan.instructions)
        if (in.kernel && in.kernel->is_reference)
          ops.insert(program->plan.graph.node(in.node).op->name);
    if (!ops.empty())
      add_note(fmt::format("{} {} by the reference evaluation, which is slow: no kernel can run {}",
                           fmt::join(ops, ", "), ops.size() == 1 ? "runs" : "run",
                           ops.size() == 1 ? "it" : "them"));
  }

  void add_note(const std::string& note) {
    if (!note.empty()) notes_.push_back(note);
  }

  /// The kernels of the level active at compilation, which determines the layout of packed weights.
  const cpu::KernelTable& kernels_;
  cpu::WeightRegion weights_;
  const OutputPlaces outputs_;
  TensorMap load_outputs_;         ///< outputs of the graph that the load program computes
  std::vector<PlannedNode> load_;  ///< plan of the load program, which has already run
  std::unique_ptr<Program> source_, step_;
  CpuOptions options_;
  std::vector<std::string> notes_;
  std::string cache_file_;  ///< the file that weights are mapped from
  mutable std::mutex mutex_;
  mutable std::deque<std::atomic<std::size_t>> arenas_;  ///< bytes by worker, in order of creation
};

}  // namespace

TensorMap load_cpu(const Graph& load_program, const TensorMap& weights) {
  std::vector<PlannedNode> planned;
  return run_load_program(load_program, weights, planned);
}

std::unique_ptr<Executable> compile_cpu(const Programs& programs, TensorMap weights,
                                        const CpuOptions& options) {
  return std::make_unique<CpuExecutable>(programs, std::move(weights), options);
}

}  // namespace fuselage
