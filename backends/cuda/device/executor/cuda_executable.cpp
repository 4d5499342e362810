#include "backends/cuda/device/executor/cuda_executable.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "backends/cpu/executable.h"
#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/runtime/device.h"
#include "backends/output_places.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

class CudaExecutable : public Executable {
 public:
  CudaExecutable(const Programs& programs, const TensorMap& weights, const WorkerOptions& options,
                 const KernelSet& kernels, std::span<const KernelEntry> registry)
      : options_(options),
        device_(device_of(options)),
        outputs_(programs),
        weights_(load(programs.load, weights)),
        source_(plan_program(programs.source, kernels), weights_, registry),
        step_(plan_program(programs.step, kernels), weights_, registry) {
    weights_.release_host_weights();
  }

  std::unique_ptr<Worker> make_worker() const override {
    const std::lock_guard lock(mutex_);
    return make_cuda_worker(source_, step_, outputs_, load_outputs_, options_,
                            arenas_.emplace_back(0));
  }

  std::size_t output(std::string_view name) const override { return outputs_.number(name); }

  std::vector<PlannedNode> plan(BindingTime time) const override {
    if (time == BindingTime::load) return {};
    return planned_nodes(time == BindingTime::source ? source_.plan() : step_.plan());
  }

  std::vector<std::string> notes() const override { return {device_}; }

  MemoryUse memory() const override {
    MemoryUse use{.matrices = weights_.matrix_bytes(),
                  .rows = weights_.size_bytes() - weights_.matrix_bytes()};
    const std::lock_guard lock(mutex_);
    use.arenas.assign(arenas_.begin(), arenas_.end());
    return use;
  }

 private:
  static std::string device_of(const WorkerOptions& options) {
    use_device(options.device);
    return describe_device();
  }

  /// Runs the load program, and keeps those of its results that are outputs of the graph.
  TensorMap load(const Graph& program, const TensorMap& weights) {
    TensorMap results = load_cpu(program, weights);
    for (std::size_t i = 0; i < outputs_.load_outputs(); ++i) {
      const std::string& name = program.outputs()[i].name;
      load_outputs_.insert_or_assign(name, results.at(name));
    }
    return results;
  }

  WorkerOptions options_;
  std::string device_;
  const OutputPlaces outputs_;
  TensorMap load_outputs_;  ///< outputs of the graph that the load program computes
  DeviceWeights weights_;
  DeviceProgram source_, step_;
  mutable std::mutex mutex_;
  mutable std::deque<std::atomic<std::size_t>> arenas_;  ///< bytes, by worker
};

}  // namespace

std::unique_ptr<Executable> make_cuda_executable(const Programs& programs, const TensorMap& weights,
                                                 const WorkerOptions& options,
                                                 const KernelSet& kernels,
                                                 std::span<const KernelEntry> registry) {
  return std::make_unique<CudaExecutable>(programs, weights, options, kernels, registry);
}

}  // namespace fuselage::cuda
