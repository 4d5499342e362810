// Scores of the words of shortlists, op by op, against the reference evaluation.

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "tests/cuda/gemm_program.h"

namespace fuselage::cuda::shortlist_kernels_test {
namespace {

constexpr std::string_view kLists = R"(domain many = vocabulary 1003
domain list = shortlist of sentence
domain choice = pairs of hyp, list
map list.word : list -> many
%x = import() {name = "x", domain = hyp, dims = [1003]}
%e = select_elements(%x) {row = [choice.left], element = [choice.right, list.word]}
)";

class ShortlistKernelsTest : public ProgramTest {
 protected:
  /// Lists of so many words for the two sentences with rows.
  void set_lists(int first, int last) { lists_ = {list_of(first), list_of(1), list_of(last)}; }

  /// Runs `body`, after kLists, for shortlists of all lengths.
  void expect_for_all(const std::string& body) {
    for (const auto& [first, last] :
         {std::pair{0, 1}, {31, 33}, {1000, 5}, {1003, 127}, {129, 0}}) {
      set_lists(first, last);
      expect_as_reference(std::string(kLists) + body);
      if (HasFatalFailure()) return;
    }
  }

 private:
  /// The last words of the vocabulary.
  static WordIds list_of(int words) {
    WordIds list(static_cast<std::size_t>(words));
    std::iota(list.begin(), list.end(), 1003 - words);
    return list;
  }
};

std::string k_best(std::string_view x, std::int64_t k) {
  return "segment_k_best(" + std::string(x) + ") {k = " + std::to_string(k) +
         ", to = [choice.left], words = [choice.right, list.word]}\n";
}

TEST_F(ShortlistKernelsTest, PenaltiesOfRepeatedWords) {
  constexpr std::string_view kText = R"(%w = row_number() {via = [hyp.word]}
%v = row_number() {via = [hyp.word], unmapped = 5}
%t = row_number() {via = [source.word]}
)";
  for (const char* attributes : {"penalty = 1.5", "ngram = 1", "penalty = 0.5, ngram = 2",
                                 "forbidden = [1000, -1, 1, 1001, -1, 2, 1, 1002, -1, 3, 0, -1]"}) {
    std::string body(kText);
    body += "%y = penalize_repeats(%x, %t) {to = [cross.left], via = [cross.right], ";
    body += attributes;
    body +=
        "}\n%z = segment_penalize_repeats(%e, %t) {row = [choice.left], listed = "
        "[choice.right, list.word], to = [cross.left], via = [cross.right], ";
    body += attributes;
    expect_for_all(body + "}\nreturn w = %w, v = %v, y = %y, z = %z\n");
  }
}

TEST_F(ShortlistKernelsTest, ElementsOfRowsAtTheEndsOfPaths) {
  expect_for_all("return e = %e\n");
  expect_as_reference(R"(%x = import() {name = "x", domain = sentence, dims = [12]}
%s = slice(%x) {begin = 3, end = 8}
%y = select_elements(%s) {row = [cross.left, hyp.parent, parent.sentence], element = [cross.right, source.word]}
%z = select_elements(%s) {row = [cross.right, source.sentence], element = [cross.left, hyp.word]}
%p = import() {name = "p", domain = prefix, dims = [5]}
%q = select_elements(%p) {row = [hyp.newest], element = [hyp.word]}
return y = %y, z = %z, q = %q
)");
}

TEST_F(ShortlistKernelsTest, LogSoftmaxOfSegments) {
  expect_for_all(R"(%y = segment_log_softmax(%e) {to = [choice.left]}
return y = %y
)");
  expect_as_reference(R"(%c = import() {name = "c", domain = cross, dims = [3]}
%y = segment_log_softmax(%c) {to = [cross.left]}
%s = import() {name = "s", domain = source, dims = [1]}
%z = segment_log_softmax(%s) {to = [source.sentence]}
return y = %y, z = %z
)");
}

TEST_F(ShortlistKernelsTest, LogSoftmaxOfMinusInfinity) {
  set_lists(33, 1000);
  expect_as_reference(std::string(kLists) + R"(%r = relu(%e)
%l = log(%r)
%y = segment_log_softmax(%l) {to = [choice.left]}
return y = %y
)");
}

TEST_F(ShortlistKernelsTest, NothingIsProbableWhereAllAreMinusInfinity) {
  set_lists(7, 130);
  run_graph(std::string(kLists) + R"(%z = sub(%e, %e)
%l = log(%z)
%y = segment_log_softmax(%l) {to = [choice.left]}
%a, %i = )" +
            k_best("%y", 2) + "return y = %y, a = %a, i = %i\n");
  for (const std::size_t output : {0, 1})
    EXPECT_THAT(new_rows(output), ::testing::Each(-std::numeric_limits<float>::infinity()));
  EXPECT_THAT(new_rows(2), ::testing::Each(::testing::AnyOf(996, 997, 873, 874)));
}

TEST_F(ShortlistKernelsTest, BestOfSegments) {
  for (const std::int64_t k : {1, 6, 33, 64})
    expect_for_all("%a, %i = " + k_best("%e", k) + "return a = %a, i = %i\n");
}

TEST_F(ShortlistKernelsTest, BestOfTiesAndOfMinusInfinity) {
  expect_for_all("%r = relu(%e)\n%l = log(%r)\n%a, %i = " + k_best("%r", 40) +
                 "%b, %j = " + k_best("%l", 40) + "return a = %a, i = %i, b = %b, j = %j\n");
}

TEST_F(ShortlistKernelsTest, BestWordsByOtherPaths) {
  expect_as_reference(R"(%c = import() {name = "c", domain = cross, dims = [1]}
%a, %i = segment_k_best(%c) {k = 3, to = [cross.left], words = [cross.left, hyp.word]}
%b, %j = segment_k_best(%c) {k = 2, to = [cross.left], words = [cross.right]}
%s = import() {name = "s", domain = source, dims = [1]}
%d, %l = segment_k_best(%s) {k = 9, to = [source.sentence], words = [source.word]}
return a = %a, i = %i, b = %b, j = %j, d = %d, l = %l
)");
}

}  // namespace
}  // namespace fuselage::cuda::shortlist_kernels_test
