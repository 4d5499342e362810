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

namespace fuselage::cpu {
namespace {

struct Level {
  std::string name;
  std::int64_t target = 0;
  KernelTable table;
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Level make_level(std::int64_t target) {
  Level level{lower(hwy::TargetName(target)), target, {}};
  // The dispatch reads a process-wide target, so the functions of each level are looked up once and
  // kept.
  hwy::GetChosenTarget().Update(target);
  for (const FillFamily fill : kFillFamilies)
    check(fill(level.table) == target, "a kernel family lacks an instruction-set level");
  return level;
}

/// Whether the processor has the VNNI instructions that go with a Highway target that it supports.
bool has_vnni([[maybe_unused]] std::int64_t target) {
#if HWY_ARCH_X86
  if (target == HWY_AVX3) return __builtin_cpu_supports("avx512vnni");
  if (target == HWY_AVX2) {
    // clang 14 knows no name for AVX-VNNI.
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
  }
#endif
  return false;
}

/// Adds the level above the last one that differs from it only in its integer products.
void add_vnni(std::vector<Level>& levels) {
  Level level = levels.back();
  level.name += "_vnni";
  if (has_vnni(level.target) && fill_vnni(level.target, level.table))
    levels.push_back(std::move(level));
}

// Weakest first: in Highway's masks a lower bit is a stronger level.
std::vector<Level> make_levels() {
  const std::int64_t present = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  std::vector<Level> levels;
  for (int bit = 62; bit >= 0; --bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((present & target) == 0) continue;
    levels.push_back(make_level(target));
    add_vnni(levels);
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
