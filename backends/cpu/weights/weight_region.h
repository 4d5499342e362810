#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/weights/pack.h"
#include "base/exported.h"
#include "base/files/content_hash.h"
#include "base/files/mapped_memory.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace fuselage::cpu {

/// A weight as a program declares it.
struct WeightType {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::string where;  ///< the declaring node, for messages
};

/// The WeightType of a value known at load.
FUSELAGE_EXPORTED WeightType weight_type(const Graph& graph, ValueId value, std::string name);

/// The weight in the declared type. Throws Error if it is missing or has another shape, and if its
/// numbers cannot be converted.
FUSELAGE_EXPORTED Tensor checked_weight(const WeightType& wanted, const TensorMap& weights);

/// The WeightType of a weight buffer of a plan.
inline WeightType weight_type(const Graph& graph, const Buffer& buffer) {
  return weight_type(graph, buffer.value, buffer.name);
}

/// The weights of programs in the forms that kernels read: as stored, by columns, or packed for the
/// active level. Two phases: binding requests weights and gets empty handles, one per weight and
/// form; make() lays them out contiguously in request order and fills the handles.
class WeightRegion {
 public:
  /// The weight as stored, [rows, …].
  std::shared_ptr<const Tensor> stored(const WeightType& weight);

  /// The transposed [n, k] of a [k, n] matrix.
  std::shared_ptr<const Tensor> columns(const WeightType& weight, std::int64_t k, std::int64_t n);

  std::shared_ptr<const PackedMatrix> packed(const WeightType& weight, const MatrixShape& shape);

  /// Makes all requested weights in one block of memory, or each apart where blocks take their size
  /// at once (pages_are_lazy), and frees each source weight after its last use. Tables of a mapped
  /// file that kernels read as stored stay there if `may_stay`, so that only the rows in use take
  /// memory. Throws Error for a weight that is missing or does not fit.
  void make(TensorMap weights, bool may_stay = false);

  /// Makes each weight in its own memory, without copying weights read as stored: for a program
  /// that runs once.
  void make_apart(const TensorMap& weights);

  /// Fills the handles from `bytes`, an earlier result of bytes() for the same requests.
  void set_bytes(const Pages& bytes);

  /// The block made by make(); null before, and where weights are apart.
  const Pages& bytes() const { return bytes_; }
  std::size_t size_bytes() const;
  /// Bytes of packed matrices in the block.
  std::size_t packed_bytes() const;

  /// Hashes the requests in order, which determine the layout of the block.
  void add_to(ContentHash& hash) const;

 private:
  enum class Form : std::uint8_t { stored, columns, packed };
  struct Entry {
    WeightType weight;
    Form form = Form::stored;
    MatrixShape shape;  ///< of a matrix
    std::shared_ptr<Tensor> tensor;
    std::shared_ptr<PackedMatrix> matrix;

    bool stays = false;  ///< where it is, outside of the block

    std::vector<std::int64_t> tensor_shape() const;
    std::size_t size_bytes() const;
    /// Bytes in the block.
    std::size_t block_bytes() const;
    /// Makes the weight in `at`, or where it needs no copy if that is null.
    void make(const TensorMap& weights, const Pages& at);
    void set_bytes(const Pages& bytes);
  };

  Entry& entry(const WeightType& weight, Form form, const MatrixShape& shape);
  static bool can_stay(const Entry& entry, const TensorMap& weights);

  std::vector<Entry> entries_;
  Pages bytes_;
};

}  // namespace fuselage::cpu
