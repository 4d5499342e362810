#include "tests/cuda/op_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kUnwritten = 0xffffffffu;  ///< a NaN
constexpr std::int64_t kSpare = 2;                 ///< memory for rows past the live ones

std::unique_ptr<Kernel> make(const PlannedInstruction& in, const Binding& binding) {
  for (const KernelEntry& entry : kernel_registry())
    if (entry.name == in.kernel->name) return entry.make(in, binding);
  throw InternalError(fmt::format("there is no kernel '{}'", in.kernel->name));
}

/// Stands for a template argument T that the kernels of these tests do not use.
template <typename T>
T& unused() {
  alignas(16) static std::byte storage[16];
  return reinterpret_cast<T&>(storage);
}

}  // namespace

RowFrame random_rows(const Graph& graph, unsigned seed, int hypotheses, int steps) {
  std::mt19937 engine(seed);
  const auto below = [&](int limit) {
    return static_cast<std::int32_t>(engine() % static_cast<unsigned>(limit));
  };
  RowFrame frame(graph);
  std::vector<WordIds> sentences(1 + static_cast<std::size_t>(below(6)));
  for (WordIds& sentence : sentences) {
    sentence.resize(1 + static_cast<std::size_t>(below(40)));
    for (std::int32_t& word : sentence) word = below(5);
  }
  frame.begin_batch(sentences);
  std::vector<std::int32_t> sentence_of(sentences.size());  // of the rows that may go on
  std::iota(sentence_of.begin(), sentence_of.end(), 0);
  for (int step = 0; step < steps; ++step) {
    const int count = step + 1 < steps ? 1 + below(20) : hypotheses;
    const auto parents =
        static_cast<std::size_t>(std::min<std::int64_t>(count, std::ssize(sentence_of)));
    std::vector<std::int32_t> previous(sentence_of.size());
    std::iota(previous.begin(), previous.end(), 0);
    std::shuffle(previous.begin(), previous.end(), engine);
    previous.resize(parents);
    std::vector<std::int32_t> parent_sentence, parent, words, positions;
    for (std::int32_t& row : previous) {
      parent_sentence.push_back(sentence_of[static_cast<std::size_t>(row)]);
      if (step == 0) row = -1;
    }
    sentence_of.clear();
    for (int h = 0; h < count; ++h) {
      parent.push_back(below(static_cast<int>(parents)));
      words.push_back(below(6) - 1);
      positions.push_back(step);
      sentence_of.push_back(parent_sentence[static_cast<std::size_t>(parent.back())]);
    }
    frame.begin_step({previous, parent_sentence, parent, words, positions});
  }
  return frame;
}

Inputs random_inputs(const Graph& graph, const RowTable& rows, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Inputs inputs;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.has(Trait::external)) continue;
    const Type& type = graph.value(node.results[0]).type;
    const auto name = node.as<ExternalName>().name;
    std::vector<double>& values = inputs[name];
    values.resize(static_cast<std::size_t>(rows.rows(type.domain) * row_size(type)));
    for (double& value : values) {
      value = static_cast<double>(normal(engine));
      if (name.starts_with("pos")) value = static_cast<double>(static_cast<float>(std::exp(value)));
      if (type.dtype == DType::i32) value = static_cast<double>(engine() % 300);
    }
  }
  return inputs;
}

OpProgram::OpProgram(const Graph& graph, const RowTable& rows, const Inputs& inputs)
    : plan_(plan_program(graph, cuda_kernels())), table_(rows) {
  upload_rows(rows);
  upload_indexes(rows);
  make_buffers(rows, inputs);
  for (const PlannedInstruction& in : plan_.instructions)
    kernels_.push_back(in.kernel ? make(in, {plan_.graph, plan_.graph.node(in.node), plan_,
                                             unused<DeviceWeights>()})
                                 : nullptr);
}

OpProgram::~OpProgram() = default;

template <typename T>
T* OpProgram::keep(const std::vector<T>& values) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  std::vector<std::uint32_t> words;
  for (const T value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  memory_.push_back(std::make_unique<DeviceArray<std::uint32_t>>(words));
  return reinterpret_cast<T*>(memory_.back()->data());
}

void OpProgram::upload_rows(const RowTable& rows) {
  const auto array = [&](std::span<const std::int32_t> values) {
    return keep(std::vector<std::int32_t>(values.begin(), values.end()));
  };
  for (std::uint32_t i = 0; i < plan_.graph.domain_count(); ++i) {
    const DomainId id{i};
    const auto count = static_cast<std::int32_t>(rows.rows(id));
    const auto first = static_cast<std::int32_t>(rows.first_new(id));
    rows_.domains.push_back({.counts = reinterpret_cast<DeviceCounts*>(
                                 keep(std::vector<std::int32_t>{count, first, count - first})),
                             .positions = array(rows.positions(id)),
                             .previous = array(rows.previous(id)),
                             .max_live = count - first + static_cast<std::int32_t>(kSpare),
                             .max_rows = count + static_cast<std::int32_t>(kSpare)});
  }
  for (std::uint32_t i = 0; i < plan_.graph.map_count(); ++i)
    rows_.maps.push_back({array(rows.index(MapId{i})), array(rows.segments(MapId{i}))});
}

void OpProgram::upload_indexes(const RowTable& rows) {
  for (const IndexSlot& slot : plan_.indexes) {
    std::vector<std::int32_t> index;
    rows.resolve(slot.path, index);
    indexes_.push_back(keep(index));
  }
}

std::vector<std::uint32_t> OpProgram::contents(const Buffer& buffer, const RowTable& rows,
                                               const Inputs& inputs) const {
  const std::int64_t count = rows.rows(buffer.domain) + kSpare;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count * buffer.row_elements),
                                   kUnwritten);
  if (buffer.constant)
    std::memcpy(words.data(), buffer.constant->bytes(), buffer.constant->size_bytes());
  if (!buffer.value.valid()) return words;
  const bool integers = plan_.graph.value(buffer.value).type.dtype == DType::i32;
  const std::vector<double>& values = inputs.at(buffer.name);
  std::transform(values.begin(), values.end(), words.begin(), [&](double value) {
    return integers ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                    : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  });
  return words;
}

void OpProgram::make_buffers(const RowTable& rows, const Inputs& inputs) {
  for (const Buffer& buffer : plan_.buffers) {
    before_.push_back(contents(buffer, rows, inputs));
    buffers_.push_back(reinterpret_cast<std::byte*>(keep(before_.back())));
    buffer_memory_.push_back(memory_.back().get());
  }
}

void OpProgram::run(cudaStream_t stream) {
  const Run run{.stream = stream,
                .rows = rows_,
                .plan_buffers = plan_.buffers,
                .buffers = buffers_,
                .indexes = indexes_,
                .workspace = {},
                .blas = unused<Blas>(),
                .cudnn = unused<Cudnn>()};
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    if (kernels_[i]) kernels_[i]->launch(plan_.instructions[i], run);
}

std::vector<float> OpProgram::output(std::size_t number) const {
  const BufferView& view = plan_.outputs[number];
  const Buffer& buffer = plan_.buffers[view.buffer];
  const std::vector<std::uint32_t> words = buffer_memory_[view.buffer]->to_host();
  const std::int64_t first = buffer.newest_only ? 0 : table_.first_new(buffer.domain);
  const std::int64_t last = first + table_.rows(buffer.domain) - table_.first_new(buffer.domain);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / std::max<std::int64_t>(view.stride, 1);
    const bool is_own = view.stride == 0 || (row >= first && row < last);
    if (!is_own && buffer.kind == Buffer::Kind::arena) {
      EXPECT_EQ(words[i], kUnwritten) << "row " << row << " is not the kernel's";
    }
  }
  const bool integers =
      plan_.graph.value(plan_.graph.outputs()[number].value).type.dtype == DType::i32;
  std::vector<float> values;
  for (std::int64_t r = first; r < last; ++r)
    for (std::int64_t c = 0; c < view.cols; ++c) {
      const std::uint32_t word = words[static_cast<std::size_t>(r * view.stride + view.offset + c)];
      values.push_back(integers ? static_cast<float>(std::bit_cast<std::int32_t>(word))
                                : std::bit_cast<float>(word));
    }
  return values;
}

std::string with(std::string_view text, std::string_view from, std::int64_t number) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos;)
    result.replace(at, from.size(), std::to_string(number));
  return result;
}

void OpTest::expect_for_all(std::string_view body, double tolerance) {
  for (const int columns : {1, 5, 31, 32, 33, 257, 1030})
    for (const int hypotheses : {0, 1, 33}) {
      expect_as_reference(with(body, "$n", columns), hypotheses, tolerance);
      if (HasFatalFailure()) return;
    }
}

void OpTest::expect_as_reference(std::string_view body, int hypotheses, double tolerance) {
  const Graph graph = graph_of(body);
  const RowFrame frame = random_rows(graph, 7, hypotheses);
  const Inputs inputs = random_inputs(graph, frame.table(), 11);
  OpProgram program(graph, frame.table(), inputs);
  program.run(stream());
  ASSERT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value& value = graph.value(graph.outputs()[i].value);
    const Array<double> want =
        evaluate<double>(graph, frame.table(), inputs, value.producer)[value.result];
    const std::vector<float> got = program.output(i);
    // Of prefix rows only the new ones, which are the last.
    ASSERT_LE(got.size(), want.data.size()) << body;
    const std::size_t first = want.data.size() - got.size();
    double largest = 1;
    for (const double x : want.data) largest = std::max(largest, std::fabs(x));
    for (std::size_t e = 0; e < got.size(); ++e)
      ASSERT_NEAR(static_cast<double>(got[e]), want.data[first + e], tolerance * largest)
          << "output " << i << ", row " << e / static_cast<std::size_t>(want.cols) << ", column "
          << e % static_cast<std::size_t>(want.cols) << " of\n"
          << body;
  }
}

}  // namespace fuselage::cuda
