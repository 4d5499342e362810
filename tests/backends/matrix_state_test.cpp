// States that are matrices, against numbers computed by hand.

#include <algorithm>

#include "fuselage/backends/compile.h"
#include "fuselage/ops/builder.h"
#include "support.h"

namespace fuselage::matrix_state_test {
namespace {

/// Linear attention: S <- S + k vᵀ and y = k S. A word's row of the table is k, then v. The scan
/// gives the mean of its y; the decoder's state begins with zeros.
Graph linear_attention() {
  Builder b("linear_attention");
  Graph& g = b.graph();
  const DomainId words = g.add_vocabulary("words", 3);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const DomainId scan = g.add_scan("scan", source, /*reversed=*/false);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId source_word = g.add_word_map("source.word", source, words, /*partial=*/false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, words, /*partial=*/true);
  const Expr table = b.param("table", {4}, words);
  const auto step = [](Expr x, Expr s) {
    const Expr k = slice(x, 0, 2);
    const Expr next = s + outer(k, slice(x, 2, 4));
    return std::pair{next, reshape(batch_matmul(reshape(k, {1, 2}), next), {2})};
  };
  const Expr read = b.state(b.constant(0, {2, 2}), scan);
  const auto [after, y] = step(broadcast(select_rows(table, {source_word}), scan), read);
  b.next(read, after);
  const Expr state = b.state(b.constant(0, {2, 2}), parent);
  const auto [next, h] = step(select_rows(table, {last_word}), broadcast(state, hyp));
  b.next(state, next);
  b.output("state", next);
  b.output("y", h);
  b.output("read", broadcast(mean_rows(collect(y)), hyp));
  return b.take();
}

std::vector<float> numbers(const Worker& worker, const Executable& executable,
                           std::string_view output) {
  const OutputRows<float> rows = worker.floats(executable.output(output));
  return {rows.data, rows.data + rows.rows * rows.cols};
}

TEST(MatrixStates, AddOuterProducts) {
  // k = [1, 2], v = [3, 4]; k = [0, 1], v = [5, 6]; k = [-1, 1], v = [1, 0].
  Tensor table(DType::f32, {3, 4});
  constexpr float kTable[] = {1, 2, 3, 4, 0, 1, 5, 6, -1, 1, 1, 0};
  std::ranges::copy(kTable, table.mutable_data<float>());
  const TensorMap weights{{"table", table}};
  for (const char* backend : {"reference", "cpu"})
    for (const char* passes : {"none", "all"}) {
      SCOPED_TRACE(std::string(backend) + " " + passes);
      const auto executable =
          compile(linear_attention(), weights, {.backend = backend, .passes = passes});
      const auto worker = executable->make_worker();
      // S = [3 4; 6 8], y = [15, 20]; S = [3 4; 11 14], y = [11, 14].
      const std::vector<WordIds> sentences{{0, 1}};
      worker->begin(sentences, {{2}, {3}});
      const auto expect = [&](const std::vector<float>& state, const std::vector<float>& y) {
        std::vector<float> read;
        for (std::size_t i = 0; i < y.size(); i += 2) read.insert(read.end(), {13, 17});
        EXPECT_EQ(numbers(*worker, *executable, "state"), state);
        EXPECT_EQ(numbers(*worker, *executable, "y"), y);
        EXPECT_EQ(numbers(*worker, *executable, "read"), read);
      };
      worker->step({std::vector<std::int32_t>{-1}, std::vector<std::int32_t>{0},
                    std::vector<std::int32_t>{0}, std::vector<std::int32_t>{-1},
                    std::vector<std::int32_t>{0}});
      expect({0, 0, 0, 0}, {0, 0});
      // Two hypotheses of one parent, with the words 0 and 2.
      worker->step({std::vector<std::int32_t>{0}, std::vector<std::int32_t>{0},
                    std::vector<std::int32_t>{0, 0}, std::vector<std::int32_t>{0, 2},
                    std::vector<std::int32_t>{1, 1}});
      expect({3, 4, 6, 8, -1, 0, 1, 0}, {15, 20, 2, 0});
      // They swap their places: each state goes with its hypothesis.
      worker->step({std::vector<std::int32_t>{1, 0}, std::vector<std::int32_t>{0, 0},
                    std::vector<std::int32_t>{0, 1}, std::vector<std::int32_t>{1, 1},
                    std::vector<std::int32_t>{2, 2}});
      expect({-1, 0, 6, 6, 3, 4, 11, 14}, {6, 6, 11, 14});
    }
}

}  // namespace
}  // namespace fuselage::matrix_state_test
