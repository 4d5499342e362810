#include "fuselage/backends/graph_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/graph_inputs.h"
#include "fuselage/backends/backend.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"
#include "graph/weights.h"

namespace fuselage {
namespace {

/// The path from the rows of a domain to sentences: pairs belong to the sentence of their left
/// member.
MapPath path_to_sentences(const Graph& graph, DomainId domain) {
  MapPath path;
  while (graph.domain(domain).kind == DomainKind::pairs) {
    path.push_back(graph.map_of(domain, MapKind::left));
    domain = graph.domain(domain).left;
  }
  const auto rest = graph.structural_path(domain, graph.sentences_of(domain));
  check(rest.has_value(), "rows that belong to no sentence");
  path.insert(path.end(), rest->begin(), rest->end());
  return path;
}

/// The rows of an output, gathered by sentence.
class GatheredRows {
 public:
  GatheredRows(const Graph& graph, const Output& output)
      : name_(output.name), type_(graph.value(output.value).type), kind_(kind_in(graph)) {
    const Domain& domain = graph.domain(type_.domain);
    binding_ = domain.binding;
    if (type_.dtype != DType::f32 && type_.dtype != DType::i32)
      throw Error(fmt::format("output '{}' is of type {}, but only f32 and i32 can be read", name_,
                              to_string(type_.dtype)));
    if (kind_ == DomainKind::scan || kind_ == DomainKind::prefix)
      throw Error(fmt::format("output '{}' has rows of '{}', {}", name_, domain.name,
                              kind_ == DomainKind::scan
                                  ? "a loop; collect them for its source and output these"
                                  : "all words so far; output the rows of the hypotheses"));
    if (binding_ == BindingTime::load)
      load_shape_ = graph.stored_shape(type_);
    else
      path_ = path_to_sentences(graph, type_.domain);
  }

  BindingTime binding() const { return binding_; }

  void begin(std::size_t sentences) {
    rows_.assign(sentences, {});
    load_ = {};
  }

  /// Drops the rows of the sentences from `begin` to `end`.
  void drop(std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) rows_[s].clear();
  }

  /// Adds the current rows of sentences that have the numbers `sentences` in a run.
  void add(const Worker& worker, std::size_t output, const RowTable& table,
           std::span<const std::size_t> sentences) {
    if (type_.dtype == DType::f32 && worker.computes_in_double()) stored_ = DType::f64;
    const auto bytes = stored_ == DType::f64   ? bytes_of(worker.doubles(output))
                       : stored_ == DType::f32 ? bytes_of(worker.floats(output))
                                               : bytes_of(worker.integers(output));
    if (binding_ == BindingTime::load) {
      load_.assign(bytes.begin(), bytes.end());
      return;
    }
    if (!path_.empty()) {
      table.resolve(path_, sentence_of_);
    } else {
      sentence_of_.clear();
      for (std::size_t s = 0; s < sentences.size(); ++s)
        sentence_of_.push_back(static_cast<std::int32_t>(s));
    }
    const std::size_t row = row_bytes();
    check(bytes.size() == sentence_of_.size() * row, "an output with other rows than its domain");
    for (std::size_t r = 0; r < sentence_of_.size(); ++r) {
      auto& to = rows_[sentences[static_cast<std::size_t>(sentence_of_[r])]];
      const auto from = bytes.subspan(r * row, row);
      to.insert(to.end(), from.begin(), from.end());
    }
  }

  NamedRows take() {
    NamedRows result{.name = name_};
    const std::size_t row = row_bytes();
    std::vector<std::byte> bytes = std::move(load_);
    Dims shape = load_shape_;
    if (binding_ != BindingTime::load) {
      std::int64_t count = 0;
      for (const auto& rows : rows_) {
        const auto length = static_cast<std::int32_t>(row == 0 ? 0 : rows.size() / row);
        bytes.insert(bytes.end(), rows.begin(), rows.end());
        if (kind_ != DomainKind::sentence) result.lengths.push_back(length);
        count += length;
      }
      shape = {count};
      shape.insert(shape.end(), type_.dims.begin(), type_.dims.end());
    }
    result.values = Tensor(stored_, std::move(shape));
    check(result.values.size_bytes() == bytes.size(), "an output of another size than its type");
    if (!bytes.empty()) std::memcpy(result.values.mutable_bytes(), bytes.data(), bytes.size());
    rows_.clear();
    return result;
  }

 private:
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(row_size(type_)) *
           (stored_ == DType::f64 ? sizeof(double) : sizeof(float));
  }

  DomainKind kind_in(const Graph& graph) const { return graph.domain(type_.domain).kind; }

  template <typename T>
  static std::span<const std::byte> bytes_of(const OutputRows<T>& rows) {
    return {reinterpret_cast<const std::byte*>(rows.data),
            static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(T)};
  }

  std::string name_;
  Type type_;
  DType stored_ = type_.dtype;  ///< f64 for a worker that computes in double
  DomainKind kind_;
  BindingTime binding_ = BindingTime::load;
  Dims load_shape_;
  MapPath path_;
  std::vector<std::vector<std::byte>> rows_;  ///< by sentence
  std::vector<std::byte> load_;
  std::vector<std::int32_t> sentence_of_;  ///< scratch
};

}  // namespace

class GraphRunner::Impl {
 public:
  Impl(Graph graph, TensorMap weights, const CompileOptions& options, bool with_passes)
      : graph_(std::move(graph)),
        backend_(find_backend(options.backend)),
        declared_(graph_inputs(graph_)),
        frame_(graph_) {
    verify(graph_);
    expect_weights(graph_, weights);
    backend_.check(options);
    if (const std::size_t devices = options.cuda.devices.size(); devices > 1)
      throw Error(fmt::format("a graph runs on one device, not on {}; name one", devices));
    for (const Output& output : graph_.outputs()) outputs_.emplace_back(graph_, output);
    executable_ = with_passes ? compile(graph_, std::move(weights), options)
                              : backend_.compile(graph_, std::move(weights), options);
    for (const Output& output : graph_.outputs())
      numbers_.push_back(executable_->output(output.name));
    worker_ = executable_->make_worker();
  }

  const std::vector<GraphInput>& inputs() const { return declared_; }

  std::vector<NamedRows> run(std::span<const NamedRows> given, std::size_t mini_batch) {
    const CheckedInputs inputs(graph_, declared_, given);
    for (GatheredRows& output : outputs_) output.begin(inputs.sentences());
    gather(BindingTime::load, {});
    for (std::size_t begin = 0; begin < inputs.sentences();) {
      const std::size_t end = end_of_batch(inputs, begin, mini_batch);
      run_batches(inputs, begin, end);
      begin = end;
    }
    std::vector<NamedRows> results;
    for (GatheredRows& output : outputs_) results.push_back(output.take());
    return results;
  }

 private:
  std::size_t end_of_batch(const CheckedInputs& inputs, std::size_t begin,
                           std::size_t mini_batch) const {
    if (mini_batch > 0) return std::min(begin + mini_batch, inputs.sentences());
    const BatchBounds bounds = backend_.fastest_batches(1);
    std::size_t longest = 0, end = begin;
    for (; end < inputs.sentences() && end - begin < bounds.sentences; ++end) {
      longest = std::max(longest, static_cast<std::size_t>(inputs.longest(end)));
      if (end > begin && longest * (end - begin + 1) > bounds.words) break;
    }
    return end;
  }

  /// Runs a batch or, if memory is short for it, its halves.
  void run_batches(const CheckedInputs& inputs, std::size_t begin, std::size_t end) {
    try {
      run_batch(inputs, begin, end);
      return;
    } catch (const OutOfMemory&) {
      if (end - begin < 2) throw;
    }
    for (GatheredRows& output : outputs_)
      if (output.binding() != BindingTime::load) output.drop(begin, end);
    const std::size_t middle = begin + (end - begin + 1) / 2;
    run_batches(inputs, begin, middle);
    run_batches(inputs, middle, end);
  }

  void run_batch(const CheckedInputs& inputs, std::size_t begin, std::size_t end) {
    const auto rows = inputs.batch(begin, end);
    StepLimits limits;
    std::vector<std::size_t> sentences;
    for (std::size_t s = begin; s < end; ++s) {
      sentences.push_back(s);
      limits.hypotheses.push_back(1);
      limits.steps.push_back(inputs.steps(s));
    }
    // A graph without a source still has sentences.
    const std::vector<WordIds> without_words(rows.empty() ? sentences.size() : 0);
    const Batch batch{.sentences = without_words, .inputs = rows};
    frame_.begin_batch(batch);
    frame_.reserve_steps(limits);
    worker_->begin(batch, limits);
    gather(BindingTime::source, sentences);
    if (has_step_outputs()) run_steps(inputs, sentences);
  }

  void run_steps(const CheckedInputs& inputs, std::span<const std::size_t> sentences) {
    std::vector<std::int32_t> row_of(sentences.size(), -1);  // in the last step
    for (std::int32_t t = 0;; ++t) {
      std::vector<std::int32_t> parents, sentence, hypotheses, words, positions;
      for (std::size_t s = 0; s < sentences.size(); ++s) {
        if (t >= inputs.steps(sentences[s])) continue;
        parents.push_back(row_of[s]);
        sentence.push_back(static_cast<std::int32_t>(s));
        row_of[s] = static_cast<std::int32_t>(hypotheses.size());
        hypotheses.push_back(row_of[s]);
        words.push_back(inputs.word(sentences[s], t));
        positions.push_back(t);
      }
      if (parents.empty()) return;
      const StepInput step{parents, sentence, hypotheses, words, positions};
      frame_.begin_step(step);
      worker_->step(step);
      gather(BindingTime::step, sentences);
    }
  }

  bool has_step_outputs() const {
    return std::any_of(outputs_.begin(), outputs_.end(), [](const GatheredRows& output) {
      return output.binding() == BindingTime::step;
    });
  }

  void gather(BindingTime time, std::span<const std::size_t> sentences) {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].binding() == time)
        outputs_[i].add(*worker_, numbers_[i], frame_.table(), sentences);
  }

  const Graph graph_;
  const Backend& backend_;
  const std::vector<GraphInput> declared_;
  RowFrame frame_;  ///< the same rows as the worker's
  std::vector<GatheredRows> outputs_;
  std::vector<std::size_t> numbers_;  ///< of outputs, for the worker
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Worker> worker_;
};

GraphRunner::GraphRunner(Graph graph, TensorMap weights, const CompileOptions& options)
    : GraphRunner(std::make_unique<Impl>(std::move(graph), std::move(weights), options,
                                         /*with_passes=*/true)) {}

GraphRunner GraphRunner::without_passes(Graph graph, TensorMap weights,
                                        const CompileOptions& options) {
  return GraphRunner(std::make_unique<Impl>(std::move(graph), std::move(weights), options,
                                            /*with_passes=*/false));
}

GraphRunner::GraphRunner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GraphRunner::GraphRunner(GraphRunner&&) noexcept = default;
GraphRunner::~GraphRunner() = default;

const std::vector<GraphInput>& GraphRunner::inputs() const { return impl_->inputs(); }

std::vector<NamedRows> GraphRunner::run(std::span<const NamedRows> inputs, std::size_t mini_batch) {
  return impl_->run(inputs, mini_batch);
}

}  // namespace fuselage
