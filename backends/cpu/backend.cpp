#include "fuselage/backends/cpu/backend.h"

#include <algorithm>

#include "backends/cpu/executable.h"
#include "backends/cpu/runtime/isa.h"
#include "base/files/lazy_pages.h"
#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {
namespace {

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  const Capabilities& capabilities() const override {
    static const Capabilities capabilities{
        .precisions = {Precision::fp32, Precision::bf16, Precision::int16, Precision::int8,
                       Precision::int4, Precision::int4_log, Precision::stored},
        .options = {BackendOption::weights_cache, BackendOption::threads_per_sentence,
                    BackendOption::kv_cache, BackendOption::profile},
        .plans = true,
        .target = {}};
    return capabilities;
  }

  KernelSet kernels(BindingTime) const override { return cpu::kernel_set(); }

  BatchBounds fastest_batches(std::size_t beam_size) const override {
    const auto sentences = [&](std::size_t rows, std::size_t most) {
      return std::clamp(rows / std::max<std::size_t>(1, beam_size), std::size_t{1}, most);
    };
    // With tiles of AMX, translations are faster at 64 rows than at 16, and slower at 384 than
    // at 96.
    if (cpu::active_isa() == "avx3_amx") return {.sentences = sentences(96, 64), .words = 4096};
    // Without, products of 12 rows are at 90 % of the peak even with matrices from memory. More
    // sentences enlarge what every step reads: keys, values and shortlists. Where memory is never
    // given back, half as many need half as much of it.
    if (!pages_are_lazy()) return {.sentences = sentences(32, 6), .words = 512, .firm = true};
    return {.sentences = sentences(64, 12), .words = 1024, .firm = true};
  }

  std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                      const CompileOptions& options) const override {
    return compile_cpu(split_by_binding_time(graph), std::move(weights),
                       {.profile = options.profile,
                        .shared_profile = options.shared_profile,
                        .kernels = {},
                        .weights_cache = options.weights_cache,
                        .threads_per_sentence = options.threads_per_sentence});
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace fuselage
