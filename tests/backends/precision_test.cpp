// Products in each precision, by the CPU back-end and by the reference interpreter.

#include <algorithm>
#include <random>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage {
namespace {

using support::random_sentences;
using support::run_trace;
using support::Trace;

/// Products of one value with matrices of all kinds, none of a round size.
constexpr std::string_view kProducts = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [37]}
%w = param() {name = "w", dims = [37, 21]}
%narrow = param() {name = "narrow", dims = [37, 1]}
%columns4 = param() {name = "columns4", dims = [29, 37], dtype = qlog4}
%columns8 = param() {name = "columns8", dims = [19, 37], dtype = qint8}
%more4 = param() {name = "more4", dims = [11, 37], dtype = qlog4}
%columns16 = param() {name = "columns16", dims = [17, 37], dtype = qint16}
%short = param() {name = "short", dims = [37, 13], dtype = bf16}
%entries4 = param() {name = "entries4", domain = words, dims = [37], dtype = qlog4}
%short_entries = param() {name = "short_entries", domain = words, dims = [37], dtype = bf16}
%last = select_rows(%table) {via = [hyp.word]}
%numbers4 = dequantize(%entries4)
%last4 = select_rows(%numbers4) {via = [hyp.word]}
%short_numbers = cast(%short_entries) {to = f32}
%last_short = select_rows(%short_numbers) {via = [hyp.word]}
%sum = add(%last, %last4)
%x = add(%sum, %last_short)
%a = matmul(%x, %table) {transposed = true}
%b = matmul(%x, %w)
%c = matmul(%x, %narrow)
%d = matmul(%x, %columns4) {transposed = true}
%e = matmul(%x, %columns8) {transposed = true}
%f = matmul(%x, %short)
%g = matmul(%x, %numbers4) {transposed = true}
%h = matmul(%x, %short_entries) {transposed = true}
%numbers8 = dequantize(%columns8)
%rows8 = transpose(%numbers8)
%i = matmul(%x, %rows8)
%other_numbers4 = dequantize(%columns4)
%rows4 = transpose(%other_numbers4)
%j = matmul(%x, %rows4)
%numbers16 = dequantize(%columns16)
%rows16 = transpose(%numbers16)
%k = matmul(%x, %rows16)
%more_numbers4 = dequantize(%more4)
%more_rows4 = transpose(%more_numbers4)
%l = matmul(%x, %more_rows4)
%y = concat(%a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l)
return logits = %y
)";

TensorMap weights_of(const Graph& graph) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  return weights_for(graph, [&](const Type& type, const Dims& shape) {
    Tensor weight = tensor_of(shape, [&] { return uniform(random); });
    if (type.dtype == DType::bf16) return weight.to_bf16();
    if (is_quantized(type.dtype))
      return quantized({.to = type.dtype, .largest = type.dtype == DType::qlog4 ? 128 : 127},
                       weight);
    return weight;
  });
}

class Precisions : public ::testing::TestWithParam<Precision> {
 protected:
  ~Precisions() override { cpu::force_isa(before_); }

  std::string before_ = cpu::active_isa();
};

TEST_P(Precisions, AgreeWithTheReferenceInterpreterAtEveryLevel) {
  const Graph graph = parse_graph(kProducts, "test.ir", all_ops());
  const TensorMap weights = weights_of(graph);
  const auto sentences = random_sentences(2, 5, 6);
  const auto run = [&](const CompileOptions& options) {
    const auto executable = compile(graph, weights, options);
    return run_trace(*executable->make_worker(), *executable, sentences, 3, 5);
  };
  for (const char* passes : {"quantize", "all"}) {
    SCOPED_TRACE(passes);
    const std::vector<Trace> want =
        run({.backend = "reference", .passes = passes, .precision = GetParam()});
    for (const std::string& isa : cpu::supported_isas()) {
      SCOPED_TRACE(isa);
      cpu::force_isa(isa);
      const std::vector<Trace> got = run({.passes = passes, .precision = GetParam()});
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t s = 0; s < want.size(); ++s)
        for (std::size_t r = 0; r < want[s].rows.size(); ++r)
          for (std::size_t c = 0; c < want[s].rows[r].size(); ++c)
            ASSERT_NEAR(got[s].rows[r][c], want[s].rows[r][c], 2e-5f)
                << "sentence " << s << " row " << r << " column " << c;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Precisions,
                         ::testing::Values(Precision::fp32, Precision::bf16, Precision::int16,
                                           Precision::int8, Precision::int4, Precision::int4_log,
                                           Precision::stored),
                         [](const auto& test) {
                           std::string name(to_string(test.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace fuselage
