#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/device/kernel/kernel.h"
#include "fuselage/backends/row_frame.h"
#include "tests/cuda/device_array.h"
#include "tests/ops/evaluation.h"

namespace fuselage::cuda {

/// Rows of all domains of a graph after `steps` steps of a random search over a few sentences, with
/// `hypotheses` rows in the last step.
RowFrame random_rows(const Graph& graph, unsigned seed, int hypotheses, int steps = 3);

/// Random numbers for each param and import of a graph; positive for names that begin with "pos".
Inputs random_inputs(const Graph& graph, const RowTable& rows, unsigned seed);

/// A program over given rows and inputs, with the back-end's kernels. Runs each instruction once,
/// in order, without loops.
class OpProgram {
 public:
  OpProgram(const Graph& graph, const RowTable& rows, const Inputs& inputs);
  ~OpProgram();
  OpProgram(const OpProgram&) = delete;
  OpProgram& operator=(const OpProgram&) = delete;

  void run(cudaStream_t stream);

  /// The new rows of output `number`. Fails the test if memory past the live rows was written.
  std::vector<float> output(std::size_t number) const;

 private:
  void upload_rows(const RowTable& rows);
  void upload_indexes(const RowTable& rows);
  void make_buffers(const RowTable& rows, const Inputs& inputs);
  std::vector<std::uint32_t> contents(const Buffer& buffer, const RowTable& rows,
                                      const Inputs& inputs) const;
  template <typename T>
  T* keep(const std::vector<T>& values);

  struct Allocation;
  ProgramPlan plan_;
  DeviceRows rows_;
  RowTable table_;
  std::vector<std::byte*> buffers_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<const std::int32_t*> indexes_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<DeviceArray<std::uint32_t>>> memory_;
  std::vector<DeviceArray<std::uint32_t>*> buffer_memory_;
};

/// Compares kernels with the reference evaluation.
class OpTest : public CudaTest {
 protected:
  /// Runs `body`, a graph over the domains of tests/graph/support.h, on random rows and inputs.
  /// Compares outputs with evaluation in double, within `tolerance` times the largest number.
  void expect_as_reference(std::string_view body, int hypotheses, double tolerance = 1e-5);

  /// The same for several numbers of columns ($n in `body`) and hypotheses.
  void expect_for_all(std::string_view body, double tolerance = 1e-5);
};

/// `text` with each `from` replaced.
std::string with(std::string_view text, std::string_view from, std::int64_t number);

}  // namespace fuselage::cuda
