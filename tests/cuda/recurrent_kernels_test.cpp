#include <fmt/format.h>

#include "backends/cuda/cudnn.h"
#include "tests/cuda/gemm_program.h"

namespace fuselage::cuda {
namespace {

struct Sizes {
  int inputs, units;
};

class RecurrentLayerTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!has_recurrent_layers()) GTEST_SKIP() << "there is no cuDNN";
  }

  /// A layer of each direction on the same rows, and a layer on the first one's result.
  static std::string layers(const char* cell, int gates, const Sizes& sizes) {
    const auto parameters = [&](const char* name, int inputs) {
      return fmt::format(R"(%w{0} = param() {{name = "w{0}", dtype = f32, dims = [{1}, {3}]}}
%u{0} = param() {{name = "u{0}", dtype = f32, dims = [{2}, {3}]}}
%b{0} = param() {{name = "b{0}", dtype = f32, dims = [{3}]}}
%c{0} = param() {{name = "c{0}", dtype = f32, dims = [{3}]}}
)",
                         name, inputs, sizes.units, gates * sizes.units);
    };
    return fmt::format(R"(%x = import() {{name = "x", domain = source, dims = [{}]}}
{}{}{}%f = recurrent_layer(%x, %w0, %u0, %b0, %c0) {{cell = "{}", over = fwd}}
%r = recurrent_layer(%x, %w1, %u1, %b1, %c1) {{cell = "{}", over = bwd}}
%t = recurrent_layer(%f, %w2, %u2, %b2, %c2) {{cell = "{}", over = bwd}}
return f = %f, r = %r, t = %t
)",
                       sizes.inputs, parameters("0", sizes.inputs), parameters("1", sizes.inputs),
                       parameters("2", sizes.units), cell, cell, cell);
  }

  void expect_layers(const std::vector<WordIds>& sentences) {
    sentences_ = sentences;
    for (const Sizes sizes : {Sizes{1, 1}, Sizes{5, 3}, Sizes{8, 16}, Sizes{33, 7}}) {
      expect_as_reference(layers("gru", 3, sizes));
      expect_as_reference(layers("lstm", 4, sizes));
      if (HasFatalFailure()) return;
    }
  }
};

std::vector<WordIds> sentences_of(const std::vector<std::size_t>& lengths) {
  std::vector<WordIds> sentences;
  for (const std::size_t length : lengths) sentences.emplace_back(length, 1);
  return sentences;
}

TEST_F(RecurrentLayerTest, SentencesOfAnyLengths) {
  expect_layers(sentences_of({3, 1, 7}));
  expect_layers(sentences_of({2, 1, 2, 9, 1, 5, 5}));
}

TEST_F(RecurrentLayerTest, SentencesOfOneLength) {
  expect_layers(sentences_of({4, 4, 4}));
  expect_layers(sentences_of({1, 1}));
}

TEST_F(RecurrentLayerTest, OneSentence) {
  expect_layers(sentences_of({6}));
  expect_layers(sentences_of({1}));
}

}  // namespace
}  // namespace fuselage::cuda
