#include "backends/cuda/device/executor/cuda_executable.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "backends/cpu/executable.h"
#include "backends/cuda/device/executor/default_workers.h"
#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/runtime/device.h"
#include "backends/output_places.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

/// The weights and both programs of a model on one device.
class DeviceModel {
 public:
  DeviceModel(int device, const Programs& programs, const TensorMap& weights,
              const KernelSet& kernels, std::span<const KernelEntry> registry)
      : number_(device),
        description_(describe(device)),
        weights_(weights),
        source_(plan_program(programs.source, kernels), weights_, registry),
        step_(plan_program(programs.step, kernels), weights_, registry) {
    weights_.release_host_weights();
  }

  int number() const { return number_; }
  const std::string& description() const { return description_; }
  const DeviceWeights& weights() const { return weights_; }
  const DeviceProgram& source() const { return source_; }
  const DeviceProgram& step() const { return step_; }

 private:
  /// Selects the device, before other members use it.
  static std::string describe(int device) {
    use_device(device);
    return describe_device();
  }

  int number_;
  std::string description_;
  DeviceWeights weights_;
  DeviceProgram source_, step_;
};

class CudaExecutable : public Executable {
 public:
  CudaExecutable(const Programs& programs, const TensorMap& weights, const WorkerOptions& options,
                 const KernelSet& kernels, std::span<const KernelEntry> registry,
                 const std::vector<int>& devices)
      : options_(options), outputs_(programs) {
    check(!devices.empty(), "an executable needs a device");
    const TensorMap loaded = load(programs.load, weights);
    for (const int device : devices)
      models_.emplace_back(device, programs, loaded, kernels, registry);
  }

  std::size_t devices() const override { return models_.size(); }

  std::size_t fastest_workers() const override {
    std::size_t workers = 1;
    for (const DeviceModel& model : models_) {
      use_device(model.number());
      workers = std::max(workers,
                         default_workers(model.weights().size_bytes(), memory_bytes_per_second()));
    }
    return workers;
  }

  std::unique_ptr<Worker> make_worker(std::size_t device) const override {
    const DeviceModel& model = models_[device];
    const std::lock_guard lock(mutex_);
    return make_cuda_worker(model.source(), model.step(), outputs_, load_outputs_, model.number(),
                            options_, arenas_.emplace_back(0));
  }

  std::size_t output(std::string_view name) const override { return outputs_.number(name); }

  std::vector<PlannedNode> plan(BindingTime time) const override {
    if (time == BindingTime::load) return {};
    const DeviceModel& any = models_.front();
    return planned_nodes((time == BindingTime::source ? any.source() : any.step()).plan());
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const DeviceModel& model : models_) notes.push_back(model.description());
    return notes;
  }

  MemoryUse memory() const override {
    MemoryUse use;
    for (const DeviceModel& model : models_) {
      use.matrices += model.weights().matrix_bytes();
      use.rows += model.weights().size_bytes() - model.weights().matrix_bytes();
    }
    const std::lock_guard lock(mutex_);
    use.arenas.assign(arenas_.begin(), arenas_.end());
    return use;
  }

 private:
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
  const OutputPlaces outputs_;
  TensorMap load_outputs_;          ///< outputs of the graph that the load program computes
  std::deque<DeviceModel> models_;  ///< by device
  mutable std::mutex mutex_;
  mutable std::deque<std::atomic<std::size_t>> arenas_;  ///< bytes, by worker
};

}  // namespace

std::unique_ptr<Executable> make_cuda_executable(const Programs& programs, const TensorMap& weights,
                                                 const WorkerOptions& options,
                                                 const KernelSet& kernels,
                                                 std::span<const KernelEntry> registry,
                                                 const std::vector<int>& devices) {
  return std::make_unique<CudaExecutable>(programs, weights, options, kernels, registry, devices);
}

}  // namespace fuselage::cuda
