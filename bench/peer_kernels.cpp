#include "bench/peer_kernels.h"

#include <memory>

#include "backends/cpu/runtime/operands.h"
#include "base/error.h"
#include "ops/matmul.h"

namespace fuselage {
namespace {

std::string refuse(const Graph& graph, const Node& node) {
  const Type& x = graph.value(node.operands[0]).type;
  const Type& w = graph.value(node.operands[1]).type;
  if (x.dtype != DType::f32 || w.dtype != DType::f32) return "it multiplies floats";
  if (x.dims.size() != 1 || w.dims.size() != 2) return "it works on one vector a row";
  if (w.dims[1] == 1) return "its matrix has one column";
  if (node.as<op::Transposed>().transposed) return "its matrix is stored by columns";
  return graph.producer(node.operands[1]).has(Trait::external) ? "" : "its matrix is not stored";
}

void bind(cpu::Instruction& in, const cpu::Binding&) { in.other = std::make_shared<PeerProduct>(); }

/// Prepares the product when it runs for the first time, since it needs the matrix.
template <MakePeerProduct kMake>
void run(const cpu::Instruction& in, const cpu::Run& run) {
  const std::size_t rows = cpu::rows_of(in, run);
  const cpu::RowsIn x = cpu::rows_in(in, run, 0);
  check(!x.rows && x.stride == x.columns, "rows follow one another");
  if (rows == 0) return;
  auto& product = *static_cast<PeerProduct*>(in.other.get());
  if (!product)
    product = kMake(cpu::data_at<const float>(in.operands[1], run, 0), x.columns, cpu::cols_of(in));
  product(x.data, rows, cpu::result_at(in, run));
}

template <MakePeerProduct kMake>
PeerLibrary library(const char* name) {
  return {name, kMake, {{.op = "matmul", .name = name, .refuse = refuse}, bind, run<kMake>}};
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
