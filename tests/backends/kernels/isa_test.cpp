#include "backends/cpu/runtime/isa.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fuselage/base/error.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

using ::testing::HasSubstr;

class IsaTest : public KernelTest {};

TEST_P(IsaTest, ForcedLevelIsActive) { EXPECT_EQ(active_isa(), GetParam()); }

TEST_P(IsaTest, PanelFollowsTheVectorWidth) {
  const std::string isa = GetParam();
  const std::size_t panel = kernels().panel_layout.panel;
  if (isa == "avx3" || isa == "avx3_vnni" || isa == "avx3_amx") {
    EXPECT_EQ(panel, 64u);
  }
  if (isa == "avx2" || isa == "avx2_vnni" || isa.starts_with("neon")) {
    EXPECT_EQ(panel, 16u);
  }
  if (isa == "sse4" || isa == "emu128") {
    EXPECT_EQ(panel, 8u);
  }
  if (isa == "scalar") {
    EXPECT_EQ(panel, 2u);
  }
}

// What a level with such a suffix has of its own are the products.
bool with_vnni(const std::string& isa) { return isa.ends_with("_vnni"); }
std::string target_of(const std::string& isa) { return isa.substr(0, isa.find('_')); }

TEST_P(IsaTest, EachLevelHasItsOwnFunctions) {
  const KernelTable& mine = kernels();
  for (const std::string& other : supported_isas()) {
    if (other == GetParam()) continue;
    force_isa(other);
    EXPECT_NE(kernels().gemm, mine.gemm);
    if (target_of(other) == target_of(GetParam())) continue;
    EXPECT_NE(kernels().unary, mine.unary);
    EXPECT_NE(kernels().softmax, mine.softmax);
    EXPECT_NE(kernels().mix_rows, mine.mix_rows);
    EXPECT_NE(kernels().k_best, mine.k_best);
  }
}

FUSELAGE_TEST_EVERY_LEVEL(IsaTest);

TEST(Isa, KeepsATableThatWasHandedOut) {
  const std::vector<std::string> isas = supported_isas();
  force_isa(isas.front());
  const KernelTable& first = kernels();
  const auto gemm = first.gemm;
  force_isa(isas.back());
  EXPECT_EQ(first.gemm, gemm);
  force_isa(isas.front());
  EXPECT_EQ(&kernels(), &first);
}

// In processes of their own, because the variable is read once.
TEST(IsaDeathTest, EnvironmentChoosesTheLevel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const std::string& isa : supported_isas())
    EXPECT_EXIT(
        {
          setenv("FUSELAGE_ISA", isa.c_str(), 1);
          std::_Exit(active_isa() == isa ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("FUSELAGE_ISA", "pentium", 1);
        try {
          init_isa();
        } catch (const Error&) {
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(IsaDeathTest, StrongestLevelIsTheDefault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unsetenv("FUSELAGE_ISA");
        std::_Exit(active_isa() == supported_isas().back() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Isa, UnknownNameListsTheChoices) {
  try {
    force_isa("mmx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'mmx'"));
    for (const std::string& isa : supported_isas()) EXPECT_THAT(error.what(), HasSubstr(isa));
  }
}

TEST(Isa, LeavesOutLevelsThatGainLittle) {
  const std::vector<std::string> isas = supported_isas();
  for (const std::string level : {"avx3_dl", "ssse3"}) {
    EXPECT_EQ(std::count(isas.begin(), isas.end(), level), 0) << level;
    EXPECT_THROW(force_isa(level), Error) << level;
  }
}

// Levels of one layout take each other's.
TEST(Isa, GemmRefusesAMatrixOfAnotherLayout) {
  const float w[4] = {1, 2, 3, 4};
  float c[2];
  for (const std::string& packing : supported_isas()) {
    force_isa(packing);
    const PackedMatrix packed = PackedMatrix::pack(w, 2, 2, 2, false);
    for (const std::string& multiplying : supported_isas()) {
      force_isa(multiplying);
      if (kernels().panel_layout == packed.layout()) continue;
      EXPECT_THROW(kernels().gemm({w, 2, nullptr, nullptr, 2}, 1, packed, {c, 2}), InternalError);
    }
  }
}

TEST(Isa, VnniFollowsItsTargetAndHasALayoutOfItsOwn) {
  const std::vector<std::string> isas = supported_isas();
  std::size_t levels = 0;
  for (std::size_t i = 1; i < isas.size(); ++i) {
    if (!with_vnni(isas[i])) continue;
    ++levels;
    EXPECT_EQ(isas[i - 1], target_of(isas[i]));
    force_isa(isas[i]);
    const PanelLayout layout = kernels().panel_layout;
    const auto gemm = kernels().gemm;
    const auto unary = kernels().unary;
    force_isa(target_of(isas[i]));
    EXPECT_NE(kernels().panel_layout, layout);
    EXPECT_NE(kernels().gemm, gemm);
    EXPECT_EQ(kernels().unary, unary);
  }
  if (levels == 0) GTEST_SKIP() << "no VNNI on this machine";
}

TEST(Isa, AmxHasTheLayoutOfVnniAndOtherProducts) {
  const std::vector<std::string> isas = supported_isas();
  if (isas.back() != "avx3_amx") GTEST_SKIP() << "no AMX on this machine";
  force_isa("avx3_amx");
  const PanelLayout layout = kernels().panel_layout;
  const KernelTable& table = kernels();
  force_isa("avx3_vnni");
  EXPECT_EQ(kernels().panel_layout, layout);
  EXPECT_NE(kernels().gemm, table.gemm);
  EXPECT_NE(kernels().linear_k_best, table.linear_k_best);
  EXPECT_EQ(kernels().unary, table.unary);
}

TEST(Isa, Arm64HasNeonAndTheLevelsOfItsProducts) {
  const std::vector<std::string> isas = supported_isas();
  if (isas.front() != "neon") GTEST_SKIP() << "no ARM64";
  // Processors with products of matrices have dot products.
  const std::vector<std::string> all = {"neon", "neon_dotprod", "neon_i8mm"};
  ASSERT_LE(isas.size(), all.size());
  EXPECT_TRUE(std::equal(isas.begin(), isas.end(), all.begin()));
  std::vector<PanelLayout> layouts;
  for (const std::string& isa : isas) {
    force_isa(isa);
    EXPECT_EQ(std::count(layouts.begin(), layouts.end(), kernels().panel_layout), 0) << isa;
    layouts.push_back(kernels().panel_layout);
  }
}

TEST(Isa, InstructionsForProductsAreUsedIfTheProcessorHasThem) {
  // x86 lists them as flags, ARM64 as features.
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string flags =
      text.substr(std::min({text.find("flags"), text.find("Features"), text.size()}));
  flags.resize(std::min(flags.find('\n'), flags.size()));
  flags += ' ';
  const std::vector<std::string> isas = supported_isas();
  const auto has = [&](const char* level) {
    return std::find(isas.begin(), isas.end(), level) != isas.end();
  };
  if (has("avx2") && flags.find(" avx_vnni ") != std::string::npos) {
    EXPECT_TRUE(has("avx2_vnni"));
  }
  if (has("avx3") && flags.find(" avx512_vnni ") != std::string::npos) {
    EXPECT_TRUE(has("avx3_vnni"));
  }
  if (has("neon") && flags.find(" asimddp ") != std::string::npos) {
    EXPECT_TRUE(has("neon_dotprod"));
  }
  if (has("neon_dotprod") && flags.find(" i8mm ") != std::string::npos) {
    EXPECT_TRUE(has("neon_i8mm"));
  }
  // Linux may refuse the registers.
  if (has("avx3_amx")) {
    EXPECT_NE(flags.find(" amx_int8 "), std::string::npos);
  }
}

}  // namespace
}  // namespace fuselage::cpu
