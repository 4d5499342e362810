#include "backends/cpu/runtime/isa.h"

#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"
#include "hwy/targets.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fuselage::cpu {
namespace {

struct Level {
  std::string name;
  std::int64_t target = 0;
  KernelTable table;
};

std::string name_of([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_ARM_A64
  return "neon";  // Highway's name tells also of the cryptographic extension
#else
  std::string text = hwy::TargetName(target);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
#endif
}

Level make_level(std::int64_t target) {
  Level level{name_of(target), target, {}};
  // The dispatch reads a process-wide target, so the functions of each level are looked up once and
  // kept.
  hwy::GetChosenTarget().Update(target);
  for (const FillFamily fill : kFillFamilies)
    check(fill(level.table) == target, "a kernel family lacks an instruction-set level");
  return level;
}

#if HWY_ARCH_X86
/// The bits of a register of CPUID leaf 7: clang 14 knows no name for AVX-VNNI, g++ 12 none for
/// AMX.
struct Leaf7 {
  explicit Leaf7(unsigned subleaf) { __get_cpuid_count(7, subleaf, &a, &b, &c, &d); }
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// Asks Linux for AMX's registers, once for the process. Refused where a thread's stack for signals
/// is too small for them, and by kernels before 5.16.
bool may_use_amx() {
#ifdef __linux__
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

/// Whether the processor has the VNNI instructions that go with a Highway target that it supports.
bool has_vnni([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_X86
  if (target == HWY_AVX3) return __builtin_cpu_supports("avx512vnni");
  if (target == HWY_AVX2) return (Leaf7(1).a >> 4 & 1) != 0;
#endif
  return false;
}

/// The same for AMX's products of bytes.
bool has_amx([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_X86
  constexpr unsigned kTilesAndBytes = 3u << 24;
  if (target == HWY_AVX3)
    return has_vnni(target) && (Leaf7(0).d & kTilesAndBytes) == kTilesAndBytes && may_use_amx();
#endif
  return false;
}

/// Whether the processor has ARM's dot products of bytes.
bool has_dotprod([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_ARM_A64 && defined(__linux__)
  constexpr unsigned long kDotProducts = 1ul << 20;  // HWCAP_ASIMDDP
  return target == HWY_STATIC_TARGET && (getauxval(AT_HWCAP) & kDotProducts) != 0;
#else
  return false;
#endif
}

/// The same for its products of matrices of bytes.
bool has_i8mm([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_ARM_A64 && defined(__linux__)
  constexpr unsigned long kMatrixProducts = 1ul << 13;  // HWCAP2_I8MM
  return has_dotprod(target) && (getauxval(AT_HWCAP2) & kMatrixProducts) != 0;
#else
  return false;
#endif
}

/// Adds the levels above a target's own that differ from it only in their integer products.
void add_product_levels(std::vector<Level>& levels, const Level& own) {
  constexpr struct {
    const char* suffix;
    bool (*present)(std::int64_t target);
    bool (*fill)(std::int64_t target, KernelTable& table);
  } kProducts[] = {{"_vnni", has_vnni, fill_vnni},
                   {"_amx", has_amx, fill_amx},
                   {"_dotprod", has_dotprod, fill_dotprod},
                   {"_i8mm", has_i8mm, fill_i8mm}};
  for (const auto& [suffix, present, fill] : kProducts) {
    Level level = own;
    level.name = own.name + suffix;
    if (present(own.target) && fill(own.target, level.table)) levels.push_back(level);
  }
}

// Weakest first: in Highway's masks a lower bit is a stronger level.
std::vector<Level> make_levels() {
  const std::int64_t present = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  std::vector<Level> levels;
  for (int bit = 62; bit >= 0; --bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((present & target) == 0) continue;
    const Level level = make_level(target);
    levels.push_back(level);
    add_product_levels(levels, level);
  }
  hwy::GetChosenTarget().Update(levels.back().target);
  return levels;
}

const std::vector<Level>& all_levels() {
  static const std::vector<Level> levels = make_levels();
  return levels;
}

std::atomic<const Level*> active_level{nullptr};

void activate(const Level& level) {
  hwy::GetChosenTarget().Update(level.target);
  active_level = &level;
}

const Level& current_level() {
  init_isa();
  return *active_level;
}

}  // namespace

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const Level& level : all_levels()) names.push_back(level.name);
  return names;
}

std::string active_isa() { return current_level().name; }

void force_isa(std::string_view name) {
  for (const Level& level : all_levels())
    if (level.name == name) return activate(level);
  throw Error(fmt::format(
      "instruction set '{}' is unknown or not available on this machine: choose one of {}", name,
      fmt::join(supported_isas(), ", ")));
}

void init_isa() {
  if (active_level) return;
  const char* wanted = std::getenv("FUSELAGE_ISA");
  if (wanted && *wanted)
    force_isa(wanted);
  else
    activate(all_levels().back());
}

const KernelTable& kernels() { return current_level().table; }

}  // namespace fuselage::cpu
