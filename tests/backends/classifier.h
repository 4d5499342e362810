#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "fuselage/backends/graph_runner.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage::support {

/// A classifier of sentences and a tagger of words, and a value that depends on no batch.
inline constexpr std::string_view kClassifier = R"(fuselage.graph 1
graph "classifier"
domain sentence = sentence
domain source = source of sentence
domain words = vocabulary 5
map source.word : source -> words
input features : sentence f32[3]
%E = param() {name = "E", domain = words, dims = [3]}
%W = param() {name = "W", dims = [3, 2]}
%x = select_rows(%E) {via = [source.word]}
%f = input() {name = "features"}
%mean = mean_rows(%x) {to = [source.sentence]}
%sum = add(%mean, %f)
%h = matmul(%sum, %W)
%classes = softmax(%h)
%t = matmul(%x, %W)
%tags = tanh(%t)
%table = matmul(%E, %W)
return classes = %classes, tags = %tags, table = %table
)";

inline Tensor floats(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Tensor tensor(DType::f32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

inline Tensor integers(const std::vector<std::int32_t>& values) {
  Tensor tensor(DType::i32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int32_t>());
  return tensor;
}

inline Graph classifier() { return parse_graph(kClassifier, "test", all_ops()); }

inline TensorMap classifier_weights() {
  return {{"E", floats({5, 3}, {1, 2, 3, -1, 0, 1, .5f, -.5f, 0, 2, 1, 0, 0, 0, 1})},
          {"W", floats({3, 2}, {.1f, -.2f, .3f, .4f, -.5f, .6f})}};
}

inline std::vector<NamedRows> classifier_inputs() {
  return {{.name = "source.word", .values = integers({4, 1, 0, 2, 3, 3}), .lengths = {2, 1, 3}},
          {.name = "features", .values = floats({3, 3}, {0, 0, 0, 1, 1, 1, 2, 0, 2})}};
}

inline void expect_same(const std::vector<NamedRows>& a, const std::vector<NamedRows>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(a[i].name);
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].lengths, b[i].lengths);
    ASSERT_EQ(a[i].values.shape(), b[i].values.shape());
    for (std::int64_t j = 0; j < a[i].values.size(); ++j)
      ASSERT_NEAR(a[i].values.data<float>()[j], b[i].values.data<float>()[j], 1e-5f) << j;
  }
}

}  // namespace fuselage::support
