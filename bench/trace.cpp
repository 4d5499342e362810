#include "bench/trace.h"

#include "fuselage/passes/workload.h"

namespace fuselage {
namespace {

template <typename T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

class RecordingWorker : public Worker {
 public:
  RecordingWorker(std::unique_ptr<Worker> worker, Trace& trace)
      : worker_(std::move(worker)), trace_(trace) {}

  void begin(const Batch& batch, const StepLimits& limits) override {
    trace_.batches.push_back({copy(batch.sentences), limits, {}});
    worker_->begin(batch, limits);
  }

  void step(const StepInput& input) override {
    trace_.batches.back().steps.push_back({copy(input.parents), copy(input.parent_sentence),
                                           copy(input.hypothesis_parent), copy(input.words),
                                           copy(input.positions)});
    worker_->step(input);
  }

  OutputRows<float> floats(std::size_t output) const override { return worker_->floats(output); }
  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return worker_->integers(output);
  }

 private:
  std::unique_ptr<Worker> worker_;
  Trace& trace_;
};

class RecordingExecutable : public Executable {
 public:
  RecordingExecutable(std::unique_ptr<Executable> executable, Trace& trace)
      : executable_(std::move(executable)), trace_(trace) {}
  std::unique_ptr<Worker> make_worker(std::size_t device) const override {
    return std::make_unique<RecordingWorker>(executable_->make_worker(device), trace_);
  }
  std::size_t output(std::string_view name) const override { return executable_->output(name); }

 private:
  std::unique_ptr<Executable> executable_;
  Trace& trace_;
};

double rows_of_pairs(const Graph& graph, const Domain& pairs, const RowCounts& counts) {
  if (graph.domain(pairs.right).kind != DomainKind::source) return 0;
  const DomainKind left = graph.domain(pairs.left).kind;
  if (left == DomainKind::hypothesis) return counts.hypothesis_source;
  return left == DomainKind::parent ? counts.parent_source : 0;
}

double rows_of(const Graph& graph, DomainId id, const RowCounts& counts) {
  const Domain& domain = graph.domain(id);
  switch (domain.kind) {
    case DomainKind::none:
    case DomainKind::vocabulary:
    case DomainKind::shortlist:  // measured searches use whole vocabularies
      return 0;
    case DomainKind::sentence:
      return counts.sentences;
    case DomainKind::source:
    case DomainKind::scan:
      return counts.source;
    case DomainKind::parent:
      return counts.parents;
    case DomainKind::hypothesis:
    case DomainKind::prefix:
      return counts.hypotheses;
    case DomainKind::pairs:
      return rows_of_pairs(graph, domain, counts);
  }
  return 0;
}

/// Operations of a mixture, with a term per weight, which its cost per row does not count. The
/// weights and the mixture are the results of a fused attention.
double mixing(const Graph& graph, const Node& node, const RowCounts& counts) {
  ValueId weights, mixed;
  if (node.has(Trait::mixes_rows) && node.operands.size() == 2) {
    weights = node.operands[0];
    mixed = node.results[0];
  } else if (node.op->decompose && node.results.size() == 2) {
    weights = node.results[0];
    mixed = node.results[1];
  } else {
    return 0;
  }
  const DomainId pairs = graph.value(weights).type.domain;
  if (graph.domain(pairs).kind != DomainKind::pairs) return 0;
  return rows_of(graph, pairs, counts) * 2 * static_cast<double>(row_size(graph.value(mixed).type));
}

/// The part of `work` for a node's operations; products of integers count for their operands' type.
double& part_of(Work& work, const Graph& graph, const Node& node) {
  for (const ValueId operand : node.operands) {
    const DType dtype = graph.value(operand).type.dtype;
    if (dtype == DType::qint16) return work.i16;
    if (dtype == DType::qint8) return work.i8;
  }
  return work.f32;
}

}  // namespace

Work operator+(const Work& a, const Work& b) {
  return {.f32 = a.f32 + b.f32, .i16 = a.i16 + b.i16, .i8 = a.i8 + b.i8};
}

double Work::floor(const Peaks& peaks) const {
  return (f32 / peaks.f32 + i16 / peaks.i16 + i8 / peaks.i8) / 2;
}

std::unique_ptr<Executable> recording(std::unique_ptr<Executable> executable, Trace& trace) {
  return std::make_unique<RecordingExecutable>(std::move(executable), trace);
}

RowCounts count_rows(const Trace& trace) {
  RowCounts counts;
  for (const Trace::Batch& batch : trace.batches) {
    counts.sentences += static_cast<double>(batch.sentences.size());
    for (const WordIds& sentence : batch.sentences)
      counts.source += static_cast<double>(sentence.size());
    counts.steps += static_cast<double>(batch.steps.size());
    for (const Trace::Step& step : batch.steps) {
      const auto length = [&](std::int32_t parent) {
        const auto sentence = step.parent_sentence[static_cast<std::size_t>(parent)];
        return static_cast<double>(batch.sentences[static_cast<std::size_t>(sentence)].size());
      };
      counts.parents += static_cast<double>(step.parents.size());
      counts.hypotheses += static_cast<double>(step.words.size());
      for (std::size_t p = 0; p < step.parents.size(); ++p)
        counts.parent_source += length(static_cast<std::int32_t>(p));
      for (const std::int32_t parent : step.hypothesis_parent)
        counts.hypothesis_source += length(parent);
    }
  }
  return counts;
}

Operations operations(const Graph& graph, const RowCounts& counts) {
  Operations flop;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.results.empty() || graph.binding(id) == BindingTime::load) continue;
    const Type& result = graph.value(node.results[0]).type;
    const Cost cost = cost_of(graph, id);
    const bool in_step = graph.binding(id) == BindingTime::step;
    double& sum = part_of(in_step ? flop.step : flop.source, graph, node);
    sum += rows_of(graph, result.domain, counts) * cost.flop + mixing(graph, node, counts);
    if (in_step) flop.step_weights += cost.weight_bytes * counts.steps;
  }
  return flop;
}

}  // namespace fuselage
