// Libraries that register.

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "tests/extensions/program.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(LoadExtension, RegistersOnce) {
  load_extension(FUSELAGE_EXTENSION);
  load_extension(FUSELAGE_EXTENSION);
  Graph graph = support::step_graph(
      7, "%p = matmul(%x, %w)\n%y = hard_sigmoid(%p) {slope = 0.5}\nreturn y = %y");
  const TensorMap weights = support::random_weights_of(graph);
  const auto executable = support::fused_executable(graph, weights);
  EXPECT_EQ(support::step_kernels(*executable).at("packed_gemm_elements"), 1);
  const auto plain = compile(graph, weights, {.passes = "none"});
  EXPECT_EQ(support::step_kernels(*plain).at("row_function"), 1);
  EXPECT_EQ(support::run_step(*executable), support::run_step(*plain));
}

TEST(LoadExtension, NamesTheFileThatItCannotLoad) {
  EXPECT_THAT([] { load_extension("no_such_library.so"); },
              ThrowsMessage<Error>(
                  AllOf(HasSubstr("extension no_such_library.so"), HasSubstr("No such file"))));
  EXPECT_THAT([] { load_extension(FUSELAGE_SOURCE_DIR "/README.md"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("README.md cannot be loaded"),
                                         HasSubstr("built for this version"))));
  EXPECT_THAT([] { load_extension(FUSELAGE_EMPTY_EXTENSION); },
              ThrowsMessage<Error>(HasSubstr("it exports no function fuselage_extension")));
  EXPECT_THAT([] { load_extension(FUSELAGE_FAILING_EXTENSION); },
              ThrowsMessage<Error>(
                  AllOf(HasSubstr("failing_extension"), HasSubstr("two ops are called 'add'"))));
}

}  // namespace
}  // namespace fuselage
