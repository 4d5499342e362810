// docs/add-a-kernel.md: its code is the example file, the example runs, and the files that it names
// exist.

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <regex>

#include "backends/cpu/executable.h"
#include "base/files/file.h"
#include "docs/examples/rms_norm_kernel.cpp"  // NOLINT: the example is a page, not a library
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage::add_a_kernel_test {
namespace {

const std::string kSources = FUSELAGE_SOURCE_DIR;

std::string page() { return read_file(kSources + "/docs/add-a-kernel.md"); }

/// Some columns of a word's row of a table, normalized.
constexpr std::string_view kGraph = R"ir(fuselage.graph 1
graph "page"
domain words = vocabulary 6
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [9]}
%gain = param() {name = "gain", dims = [5]}
%row = select_rows(%table) {via = [hyp.word]}
%x = slice(%row) {begin = 2, end = 7}
%y = rms_norm(%x, %gain) {epsilon = 0.001}
return y = %y
)ir";

TensorMap weights() {
  Tensor table(DType::f32, {6, 9}), gain(DType::f32, {5});
  std::iota(table.mutable_data<float>(), table.mutable_data<float>() + table.size(), -20.0f);
  std::iota(gain.mutable_data<float>(), gain.mutable_data<float>() + gain.size(), 1.0f);
  return {{"table", table}, {"gain", gain}};
}

/// What two sentences' first step gives with these kernels before the back-end's own. Counts the
/// kernels of the plan.
std::vector<float> run_with(std::span<const cpu::KernelEntry> kernels,
                            std::map<std::string, int>& counts) {
  const Graph graph = parse_graph(kGraph, "page", all_ops());
  const auto executable =
      compile_cpu(split_by_binding_time(graph), weights(), {.kernels = kernels});
  for (const PlannedNode& node : executable->plan(BindingTime::step)) ++counts[node.kernel];
  const auto worker = executable->make_worker();
  const std::vector<WordIds> sentences{{1, 0}, {2, 0}};
  worker->begin(sentences, {{1, 1}, {1, 1}});
  const std::vector<std::int32_t> none{-1, -1}, rows{0, 1}, words{4, 5}, positions{0, 0};
  worker->step({none, rows, rows, words, positions});
  std::vector<float> all;
  for (const std::int32_t row : rows) {
    const auto y = worker->floats(executable->output("y")).row(row);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

TEST(AddAKernel, ThePageShowsTheExampleFile) {
  const std::string file = read_file(kSources + "/docs/examples/rms_norm_kernel.cpp");
  EXPECT_THAT(page(), ::testing::HasSubstr("```cpp\n" + file + "```\n"));
}

TEST(AddAKernel, TheExampleGivesWhatTheBackEndGives) {
  std::map<std::string, int> own, example;
  const std::vector<float> want = run_with({}, own);
  const std::vector<float> got = run_with({&cpu::kPlainRmsNorm, 1}, example);
  EXPECT_EQ(own.count("plain_rms_norm"), 0u);
  EXPECT_EQ(example.at("plain_rms_norm"), 1);
  EXPECT_EQ(example.at("view"), 2) << "it reads the slice of a selection where it is";
  ASSERT_EQ(want.size(), 10u);
  EXPECT_THAT(got, ::testing::Pointwise(::testing::FloatNear(1e-5f), want));
}

TEST(AddAKernel, TheFilesThatThePageNamesExist) {
  const std::string text = page();
  const std::regex path("`((?:backends|tests)/[A-Za-z0-9_./]+)`");
  int count = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name.find("FAMILY") != std::string::npos || name.find("NAME") != std::string::npos)
      continue;
    EXPECT_TRUE(std::filesystem::exists(kSources + "/" + name)) << name;
    ++count;
  }
  EXPECT_GE(count, 15);
}

}  // namespace
}  // namespace fuselage::add_a_kernel_test
