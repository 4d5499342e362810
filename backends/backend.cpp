#include "fuselage/backends/backend.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// An option with its name in messages and a test for a non-default value.
struct OptionUse {
  BackendOption option;
  std::string_view name;
  bool (*given)(const CompileOptions& options);
};

constexpr OptionUse kOptions[] = {
    {BackendOption::weights_cache, "weights-cache",
     [](const CompileOptions& o) { return !o.weights_cache.empty(); }},
    {BackendOption::threads_per_sentence, "threads-per-sentence",
     [](const CompileOptions& o) { return o.threads_per_sentence > 1; }},
    {BackendOption::kv_cache, "kv-cache",
     [](const CompileOptions& o) { return o.kv_cache.value_or(KvCache::fp32) != KvCache::fp32; }},
    {BackendOption::profile, "profile",
     [](const CompileOptions& o) { return o.profile != nullptr || o.shared_profile != nullptr; }},
    {BackendOption::observer, "observer",
     [](const CompileOptions& o) { return o.observer != nullptr; }},
    {BackendOption::in_double, "double", [](const CompileOptions& o) { return o.in_double; }},
    {BackendOption::devices, "device numbers",
     [](const CompileOptions& o) { return o.cuda.devices != CudaOptions().devices; }},
    {BackendOption::tf32, "tf32", [](const CompileOptions& o) { return o.cuda.tf32; }},
    {BackendOption::eager, "eager", [](const CompileOptions& o) { return o.cuda.eager; }},
};

/// "the cpu or reference back-end": lists the back-ends for which `can` holds.
template <typename Can>
std::string backends_that(const Can& can) {
  std::vector<std::string_view> names;
  for (const Backend* backend : all_backends())
    if (can(backend->capabilities())) names.push_back(backend->name());
  return fmt::format("the {} back-end", fmt::join(names, " or "));
}

}  // namespace

void Backend::check(const CompileOptions& options) const {
  const Capabilities& able = capabilities();
  for (const OptionUse& use : kOptions)
    if (use.given(options) && !able.options.contains(use.option))
      throw Error(fmt::format("the {} back-end has no use for {}; leave it out, or take {}", name(),
                              use.name, backends_that([&](const Capabilities& other) {
                                return other.options.contains(use.option);
                              })));
  if (options.threads_per_sentence < 1)
    throw Error("threads-per-sentence must be at least 1, not 0");
  const Precision precision = options.precision.value_or(Precision::fp32);
  if (able.precisions.contains(precision)) return;
  std::vector<std::string_view> others;
  for (const std::string_view other : precision_names())
    if (able.precisions.contains(precision_from_string(other))) others.push_back(other);
  throw Error(fmt::format("the {} back-end has no products in {}; use {}, or {}", name(),
                          to_string(precision), fmt::join(others, ", "),
                          backends_that([&](const Capabilities& other) {
                            return other.precisions.contains(precision);
                          })));
}

const Backend& find_backend(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Backend* backend : all_backends()) names.push_back(backend->name());
  return *all_backends()[find_name("back-end", name, names)];
}

}  // namespace fuselage
