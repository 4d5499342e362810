// Kernels that draw words, against the reference evaluation.

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "ops/search/philox.h"
#include "tests/cuda/gemm_program.h"

namespace fuselage::cuda {
namespace {

using ::testing::Each;

class DrawKernelsTest : public ProgramTest {
 protected:
  /// Runs `body` with %x, scores of so many words for each hypothesis, and the random number %u.
  void expect_for_all(const std::string& body) {
    for (const int n : {1, 2, 31, 255, 256, 257, 1000, 4099})
      expect_as_reference("%x = import() {name = \"x\", domain = hyp, dims = [" +
                          std::to_string(n) + "]}\n" + std::string(kRandom) + body);
  }

  static constexpr std::string_view kRandom =
      R"(%r = import() {name = "r", domain = hyp, dims = [1]}
%u = sigmoid(%r)
)";
};

TEST_F(DrawKernelsTest, NumbersOfStreams) {
  run_graph(R"(%s = constant() {values = [1, 2, 3, 40000], dims = [4]}
%p = position() {domain = hyp}
%u = uniform(%s, %p)
return u = %u
)");
  EXPECT_THAT(new_rows(0), Each(uniform_number(0x9c40000300020001, 1)));
}

TEST_F(DrawKernelsTest, OfAllWords) {
  expect_for_all("%s, %w = sample(%x, %u)\nreturn s = %s, w = %w\n");
  expect_for_all("%s, %w = sample(%x, %u) {temperature = 0.5}\nreturn s = %s, w = %w\n");
}

TEST_F(DrawKernelsTest, OfSomeWords) {
  for (const std::string_view attributes :
       {"top_p = 0.9", "top_p = 0.3, temperature = 2", "top_p = 0.999999", "epsilon = 0.01",
        "epsilon = 0.5", "top_p = 0.7, epsilon = 0.001, excluded = [0]"})
    expect_for_all("%s, %w = sample(%x, %u) {" + std::string(attributes) +
                   "}\nreturn s = %s, w = %w\n");
}

TEST_F(DrawKernelsTest, OfEqualWords) {
  for (const std::string_view top_p : {"1", "0.503", "0.001"})
    expect_for_all("%z = sub(%x, %x)\n%s, %w = sample(%z, %u) {top_p = " + std::string(top_p) +
                   "}\nreturn s = %s, w = %w\n");
}

TEST_F(DrawKernelsTest, OfLists) {
  expect_as_reference(R"(%x = import() {name = "x", domain = hyp, dims = [300]}
%y = import() {name = "y", domain = sentence, dims = [300]}
%h = select_rows(%y) {via = [hyp.parent, parent.sentence]}
)" + std::string(kRandom) +
                      R"(%a, %i = k_best(%x) {k = 12}
%s, %w = sample(%a, %u, %i) {top_k = 9, excluded = [3, 77, 150, 200, 299]}
%t, %v = sample(%h, %u) {excluded = [0, 299]}
return s = %s, w = %w, t = %t, v = %v
)");
}

TEST_F(DrawKernelsTest, NothingWhereNoWordIsProbable) {
  run_graph(R"(%x = import() {name = "x", domain = hyp, dims = [300]}
%z = sub(%x, %x)
%l = log(%z)
%k = constant() {values = [nan]}
%n = add(%z, %k)
)" + std::string(kRandom) +
            R"(%s, %w = sample(%l, %u) {top_p = 0.5, epsilon = 0.1}
%t, %v = sample(%n, %u) {top_p = 0.5, epsilon = 0.1}
return s = %s, w = %w, t = %t, v = %v
)");
  for (const std::size_t output : {0, 2})
    EXPECT_THAT(new_rows(output), Each(-std::numeric_limits<float>::infinity()));
  for (const std::size_t output : {1, 3}) EXPECT_THAT(new_rows(output), Each(-1));
}

TEST_F(DrawKernelsTest, OfShortlists) {
  const auto list_of = [](int words) {
    WordIds list(static_cast<std::size_t>(words));
    std::iota(list.begin(), list.end(), 1003 - words);
    return list;
  };
  for (const auto& [first, last] : {std::pair{1, 1}, {31, 33}, {1000, 5}, {1003, 127}, {129, 0}}) {
    lists_ = {list_of(first), list_of(1), list_of(last)};
    for (const std::string_view attributes : {"", ", top_p = 0.8, excluded = [1000, 1001]"}) {
      const std::string paths = "{to = [choice.left], words = [choice.right, list.word]" +
                                std::string(attributes) + "}\n";
      expect_as_reference(R"(domain many = vocabulary 1003
domain list = shortlist of sentence
domain choice = pairs of hyp, list
map list.word : list -> many
%x = import() {name = "x", domain = choice, dims = [1]}
)" + std::string(kRandom) +
                          "%s, %w = segment_sample(%x, %u) " + paths + "return s = %s, w = %w\n");
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda
