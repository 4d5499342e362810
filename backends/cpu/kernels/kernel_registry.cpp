#include "fuselage/backends/cpu/kernels/kernel_registry.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "backends/cpu/kernels/kernel_families.h"
#include "base/registrant.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"

namespace fuselage::cpu {
namespace {

struct Registered {
  std::mutex mutex;
  std::deque<KernelEntry> entries;  ///< a deque, so that pointers stay valid
};

Registered& registered() {
  static Registered all;
  return all;
}

/// A kernel's op and name.
using Key = std::pair<std::string_view, std::string_view>;

std::set<Key> keys_of(const std::deque<KernelEntry>& entries) {
  std::set<Key> keys;
  for (const KernelEntry& entry : entries) keys.emplace(entry.op, entry.name);
  for (const KernelFamily family : kKernelFamilies)
    for (const KernelEntry& entry : family()) keys.emplace(entry.op, entry.name);
  return keys;
}

void check_entry(const KernelEntry& entry) {
  if (entry.name.empty())
    throw Error(fmt::format("a kernel of '{}' has no name; give it one", entry.op));
  if (!entry.make)
    throw Error(fmt::format("kernel '{}' of '{}' has no factory function; give it make_kernel",
                            entry.name, entry.op));
  if (entry.op == "*" || all_ops().find(entry.op)) return;
  std::vector<std::string_view> known;
  for (const OpDef* op : all_ops().all()) known.push_back(op->name);
  throw Error(fmt::format("kernel '{}' runs '{}', which is no op{}", entry.name, entry.op,
                          did_you_mean(entry.op, known)));
}

}  // namespace

KernelSet kernel_set(std::span<const KernelEntry> first) {
  KernelSet kernels;
  for (const KernelEntry& entry : first) kernels.push_back(&entry);
  for (const KernelEntry* entry : registered_kernels()) kernels.push_back(entry);
  for (const KernelFamily family : kKernelFamilies)
    for (const KernelEntry& entry : family()) kernels.push_back(&entry);
  return kernels;
}

void register_kernels(std::span<const KernelEntry> kernels) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::set<Key> keys = keys_of(all.entries);
  for (const KernelEntry& entry : kernels) {
    check_entry(entry);
    if (keys.contains({"*", entry.name}) || !keys.emplace(entry.op, entry.name).second)
      throw Error(fmt::format("two kernels of '{}' are called '{}'; choose another name for one",
                              entry.op, entry.name));
  }
  for (KernelEntry entry : kernels) {
    entry.registered_by = current_registrant();
    all.entries.push_back(entry);
  }
}

void register_kernels(std::initializer_list<KernelEntry> kernels) {
  register_kernels(std::span<const KernelEntry>(kernels.begin(), kernels.size()));
}

std::vector<const KernelEntry*> registered_kernels() {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::vector<const KernelEntry*> entries;
  for (const KernelEntry& entry : all.entries) entries.push_back(&entry);
  return entries;
}

}  // namespace fuselage::cpu
