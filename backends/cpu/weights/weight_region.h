#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/weights/pack.h"
#include "backends/plan/plan.h"
#include "base/content_hash.h"
#include "base/mapped_memory.h"
#include "base/tensor.h"
#include "graph/graph.h"

namespace fuselage::cpu {

/// A weight as a program declares it.
struct WeightType {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::string where;  ///< the node that declares it, for messages
};

/// That of a value whose rows are known at load.
WeightType weight_type(const Graph& graph, ValueId value, std::string name);

/// The weight in the declared type. Of its shape only the number of elements counts, and the length
/// of quantized vectors. Throws Error for what is missing or does not fit.
Tensor checked_weight(const WeightType& wanted, const TensorMap& weights);

/// That which a buffer of a plan holds.
inline WeightType weight_type(const Graph& graph, const Buffer& buffer) {
  return weight_type(graph, buffer.value, buffer.name);
}

/// The weights that programs read, each in the forms in which kernels read it: as it is, by
/// columns, or packed for the active level. Two phases: binding requests weights and gets empty
/// handles, one for each form however many nodes use it; make() lays them out side by side in the
/// order of the requests and fills the handles.
class WeightRegion {
 public:
  /// The weight as it is, [rows, …].
  std::shared_ptr<const Tensor> stored(const WeightType& weight);

  /// A row for each column of a [k, n] matrix.
  std::shared_ptr<const Tensor> columns(const WeightType& weight, std::int64_t k, std::int64_t n);

  std::shared_ptr<const PackedMatrix> packed(const WeightType& weight, const MatrixShape& shape);

  /// Makes them all in one piece of memory, and lets go of each weight when it has been used for
  /// the last time. Throws Error for what is missing or does not fit.
  void make(TensorMap weights);

  /// Makes them each by itself, and what is read as it is no copy but the weight: for a program
  /// that runs once.
  void make_apart(const TensorMap& weights);

  /// They have been made before, and are these: what bytes() was then.
  void set_bytes(const Pages& bytes);

  /// What make() has made; null before.
  const Pages& bytes() const { return bytes_; }
  std::size_t size_bytes() const;
  /// Of them, those of packed matrices.
  std::size_t packed_bytes() const;

  /// Adds what is asked for, in order: all that tells how the bytes are to be read.
  void add_to(ContentHash& hash) const;

 private:
  enum class Form : std::uint8_t { stored, columns, packed };
  struct Entry {
    WeightType weight;
    Form form = Form::stored;
    MatrixShape shape;  ///< of a matrix
    std::shared_ptr<Tensor> tensor;
    std::shared_ptr<PackedMatrix> matrix;

    std::vector<std::int64_t> tensor_shape() const;
    std::size_t size_bytes() const;
    const std::byte* bytes() const;
    void make(const TensorMap& weights);
    void move_to(Pages bytes);
  };

  Entry& entry(const WeightType& weight, Form form, const MatrixShape& shape);

  std::vector<Entry> entries_;
  Pages bytes_;
};

}  // namespace fuselage::cpu
