#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/executable.h"
#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "tests/random_weights.h"

namespace fuselage::support {

constexpr int kTableColumns = 9;

/// A step program over rows of a table: %x [9], and the products %p and %q [columns] of %x.
inline Graph step_graph(int columns, const std::string& equations) {
  return parse_graph(fmt::format(R"ir(fuselage.graph 1
domain words = vocabulary 6
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%table = param() {{name = "table", domain = words, dims = [{1}]}}
%w = param() {{name = "w", dims = [{1}, {0}]}}
%u = param() {{name = "u", dims = [{1}, {0}]}}
%bias = param() {{name = "bias", dims = [{0}]}}
%x = select_rows(%table) {{via = [hyp.word]}}
%scalar = slice(%x) {{begin = 3, end = 4}}
{2}
)ir",
                                 columns, kTableColumns, equations),
                     "test", all_ops());
}

inline TensorMap random_weights_of(const Graph& graph) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  return weights_for(graph, [&](const Type&, const Dims& shape) {
    Tensor tensor(DType::f32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[i] = normal(random);
    return tensor;
  });
}

/// Compiles with passes; all but those that would compute the whole step for each word at load.
inline std::unique_ptr<Executable> fused_executable(const Graph& graph, const TensorMap& weights) {
  return compile(graph, weights, {.passes = "all,-commute_rows,-frequent_rows"});
}

/// The rows of the output "y" in the first step of two sentences.
inline std::vector<float> run_step(const Executable& executable) {
  const auto worker = executable.make_worker();
  const std::vector<WordIds> sentences{{1, 0}, {2, 0}};
  worker->begin(sentences, {{1, 1}, {1, 1}});
  const std::vector<std::int32_t> none{-1, -1}, rows{0, 1}, words{4, 5}, positions{0, 0};
  worker->step({none, rows, rows, words, positions});
  std::vector<float> all;
  for (const std::int32_t row : rows) {
    const auto y = worker->floats(executable.output("y")).row(row);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

/// How often each kernel runs in the step program.
inline std::map<std::string, int> step_kernels(const Executable& executable) {
  std::map<std::string, int> counts;
  for (const PlannedNode& node : executable.plan(BindingTime::step)) ++counts[node.kernel];
  return counts;
}

}  // namespace fuselage::support
