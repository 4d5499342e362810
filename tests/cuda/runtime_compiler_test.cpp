#include "backends/cuda/device/runtime/runtime_compiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backends/cuda/elementwise_source.h"
#include "base/files/content_hash.h"
#include "base/files/file.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"
#include "tests/graph/support.h"
#include "tests/temp_path.h"

namespace fuselage::cuda {
namespace {

// None of these needs a GPU.

const std::string kArchitecture = "sm_90";

/// A path. The destructor removes its file or directory.
struct Temporary {
  explicit Temporary(const std::string& name) : path(temp_path(name)) {}
  ~Temporary() { std::filesystem::remove_all(path); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  std::string path;
};

std::string source_of(const std::string& expression, const std::vector<bool>& scalar) {
  return elementwise_source(parse_expression(expression), scalar);
}

TEST(RuntimeCompilerTest, CompilesEveryElementwiseOp) {
  for (const OpDef* op : all_ops().all()) {
    if (!op->has(Trait::elementwise) || declares<op::Expression>(*op)) continue;
    const bool unary = op->operands.size() == 1;
    const std::string expression =
        std::string(op->name) + (unary                      ? "(x0)"
                                 : op->operands.size() == 2 ? "(x0, x1)"
                                                            : "(x0, x1, x0)");
    EXPECT_FALSE(compile_cubin(source_of(expression, {false, !unary}), kArchitecture).empty());
  }
}

TEST(RuntimeCompilerTest, CompilesExpressionsWithManyOperands) {
  std::string expression = "x0";
  for (int i = 1; i < 64; ++i)
    expression = "add(" + expression + ", mul(-1.5e-3, x" + std::to_string(i) + "))";
  EXPECT_FALSE(
      compile_cubin(source_of(expression, std::vector<bool>(64, true)), kArchitecture).empty());
}

TEST(RuntimeCompilerTest, ShowsTheCompilersMessages) {
  const std::string message =
      error_of([] { compile_cubin("void f() { nothing; }", kArchitecture); });
  EXPECT_NE(message.find("nothing"), std::string::npos) << message;
}

TEST(RuntimeCompilerTest, KeepsCubinsAndMakesDamagedOnesAnew) {
  const Temporary directory("cubins");
  const std::string source = source_of("neg(x0)", {false});
  const std::string cubin = cached_cubin(source, kArchitecture, directory.path);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  const std::string stored = read_file(files[0]);
  ASSERT_TRUE(stored.ends_with(cubin));
  for (const std::string& damaged :
       {std::string(), stored.substr(0, 20), stored.substr(0, stored.size() - 1), stored + "x"}) {
    write_file_atomically(files[0], damaged);
    EXPECT_EQ(cached_cubin(source, kArchitecture, directory.path).size(), cubin.size());
    EXPECT_EQ(read_file(files[0]).size(), stored.size());
  }
  // An intact file is read.
  ContentHash hash;
  hash.add(std::string_view("another cubin"));
  write_file_atomically(files[0], hash.text() + "another cubin");
  EXPECT_EQ(cached_cubin(source, kArchitecture, directory.path), "another cubin");
  cached_cubin(source_of("abs(x0)", {false}), kArchitecture, directory.path);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path), {}), 2);
}

TEST(RuntimeCompilerTest, CompilesWhereNothingCanBeKept) {
  const Temporary file("a-file");
  write_file_atomically(file.path, "no directory");
  EXPECT_FALSE(
      cached_cubin(source_of("neg(x0)", {false}), kArchitecture, file.path + "/cubins").empty());
  EXPECT_EQ(read_file(file.path), "no directory");
}

}  // namespace
}  // namespace fuselage::cuda
