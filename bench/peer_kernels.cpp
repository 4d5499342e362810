#include "bench/peer_kernels.h"

#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/matmul.h"

namespace fuselage {
namespace {

std::string refuse(const Graph& graph, const Node& node) {
  const Type& x = graph.value(node.operands[0]).type;
  const Type& w = graph.value(node.operands[1]).type;
  if (x.dtype != DType::f32 || w.dtype != DType::f32) return "it multiplies floats";
  if (x.dims.size() != 1 || w.dims.size() != 2) return "it works on one vector a row";
  if (std::string reason = refuse_one_column(graph, node); !reason.empty()) return reason;
  if (node.as<op::Transposed>().transposed) return "its matrix is stored by columns";
  return graph.producer(node.operands[1]).has(Trait::external) ? "" : "its matrix is not stored";
}

/// Prepares the product in the first run, since it needs the matrix. For one worker only.
template <MakePeerProduct kMake>
class PeerKernel final : public cpu::Kernel {
 public:
  PeerKernel(const PlannedInstruction&, const cpu::Binding&) {}

  void run(const PlannedInstruction& in, const cpu::Run& run) const override {
    const std::size_t rows = cpu::rows_of(in, run);
    const cpu::RowsIn x = cpu::rows_in(in, run, 0);
    check(!x.rows && x.stride == x.columns, "rows follow one another");
    if (rows == 0) return;
    if (!product_)
      product_ =
          kMake(cpu::data_at<const float>(in.operands[1], run, 0), x.columns, cpu::cols_of(in));
    product_(x.data, rows, cpu::result_at(in, run));
  }

 private:
  mutable PeerProduct product_;
};

template <MakePeerProduct kMake>
PeerLibrary library(const char* name) {
  return {name,
          kMake,
          {{.op = op::Matmul::kName, .name = name, .refuse = refuse},
           cpu::make_kernel<PeerKernel<kMake>>}};
}

}  // namespace

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> libraries = {
      library<eigen_product>("Eigen"),
#ifdef FUSELAGE_WITH_OPENBLAS
      library<openblas_product>("OpenBLAS"),
#endif
#ifdef FUSELAGE_WITH_ONEDNN
      library<onednn_product>("oneDNN"),
#endif
  };
  return libraries;
}

const PeerLibrary& vectors_by_eigen() {
  static const PeerLibrary library_of_vectors =
      library<eigen_vector_product>("Eigen, vector by vector");
  return library_of_vectors;
}

}  // namespace fuselage
