#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/element_kernel.h"
#include "backends/cpu/kernels/packed_matrix.h"
#include "backends/cpu/kernels/table.h"
#include "base/quantized.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/row_table.h"

namespace fuselage::cpu {

inline constexpr std::uint32_t kForever = 0xffffffffu;
inline constexpr std::int32_t kNone = -1;

/// Elements of 4 bytes that a row of the type takes; quantized vectors include their scales.
/// Numbers of bf16 have no gaps between rows: all of them together may take less.
std::int64_t row_elements(const Type& type);

class Team;          // team.h
struct WeightType;   // weight_region.h
class WeightRegion;  // weight_region.h

/// A block of memory that holds one value for the rows of its domain.
struct Buffer {
  enum class Kind : std::uint8_t {
    arena,   ///< placed in the worker's arena for each batch
    weight,  ///< known when the plan is made, and shared by all workers
    import,  ///< a result of the source program
  };
  Kind kind = Kind::arena;
  DomainId domain;
  std::int64_t row_elements = 0;
  /// A prefix buffer that keeps only the rows of the current step, as nothing reads older ones.
  bool newest_only = false;
  std::uint32_t first = 0, last = 0;  ///< arena: live between these instructions, both included
  std::string name;                   ///< import
  std::shared_ptr<const WeightType> declared;  ///< weight: none for a constant
  /// Weight: its numbers, where an instruction reads them as they are.
  std::shared_ptr<const Tensor> tensor;
};

/// Where a value's rows are: columns of a buffer, possibly read through an index.
struct Place {
  std::uint32_t buffer = 0;
  std::int64_t offset = 0;               ///< first element within a row
  std::int64_t stride = 0;               ///< elements from row to row; 0 for a value without rows
  std::int64_t cols = 0;                 ///< elements of a row
  std::int32_t index = kNone;            ///< number of an IndexSlot
  std::int32_t fallback_buffer = kNone;  ///< for rows that the index leaves out; kNone: zeros
  bool is_read = true;                   ///< false: its kernel has another form of the weight
};

/// A path of maps whose composed index some place reads through.
struct IndexSlot {
  MapPath path;
  DomainId from;
};

/// Look-ups in a table of frequent rows, counted by all workers.
struct LookupCounter {
  std::atomic<std::uint64_t> lookups{0}, hits{0};
};

/// What an instruction finds at run time. Pointers stay good for a whole step or iteration.
struct Run {
  const KernelTable& kernels;
  const RowTable& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< by number of the buffer
  const std::vector<const std::int32_t*>& indexes;  ///< by number of the slot
  Team* team = nullptr;                             ///< who takes part; nullptr: nobody else
};

struct KernelRow;       // kernel_rows.h
struct EnsembleLayers;  // ensemble_kernel.cpp
struct ShortlistLayer;  // shortlist_kernel.cpp

/// How a product reads its matrix.
struct MatrixShape {
  std::int64_t k = 0, n = 0;
  bool transposed = false;  ///< it is stored as [n, k]
  DType dtype = DType::f32;

  bool operator==(const MatrixShape&) const = default;
};

/// Packs a matrix that is stored at `data` for the kernels of the active level. Throws Error for
/// integers of which products may leave 32 bits.
PackedMatrix pack(const std::byte* data, const MatrixShape& shape);

/// A result of an instruction that is the quantized vectors of another.
struct QuantizedResult {
  std::size_t of = 0, at = 0;  ///< numbers of results
  std::size_t vectors = 1;     ///< in a row
};

/// A node bound to a kernel.
struct Instruction {
  NodeId node;
  std::string_view kernel;
  void (*run)(const Instruction&, const Run&) = nullptr;  ///< nullptr: a view, nothing to do
  DomainId domain;                                        ///< whose rows it computes
  std::vector<Place> operands;
  std::vector<Place> results;
  // What kernels need of the node, read once.
  const Graph* graph = nullptr;
  std::shared_ptr<const PackedMatrix> matrix;
  MatrixShape shape;  ///< of a matrix that is packed when the node runs
  std::shared_ptr<const ElementKernel> elements;
  std::shared_ptr<const EnsembleLayers> ensemble;
  std::shared_ptr<const ShortlistLayer> shortlist;
  Binary binary = Binary::add;
  Unary unary = Unary::neg;
  MapId map;
  std::int64_t integer = 0;
  double real = 0;
  Quantizer quantizer;
  std::vector<QuantizedResult> quantized;
  std::int64_t vectors = 1;  ///< in a row, each of which a product takes for itself
  std::shared_ptr<LookupCounter> counter;
  std::shared_ptr<void> other;  ///< of a kernel that is not the back-end's own
};

/// Instructions begin … end - 1 are the body of a scan.
struct Loop {
  DomainId scan;
  std::uint32_t begin = 0, end = 0;
};

/// One of the three programs, ready to run when its weights are made: for each node a kernel, and
/// for each value a place. Immutable once made.
struct ProgramPlan {
  Graph graph;
  std::vector<Instruction> instructions;
  std::vector<Loop> loops;
  std::vector<Buffer> buffers;
  std::vector<IndexSlot> indexes;
  std::vector<Place> outputs;  ///< in the graph's order
};

/// Plans `program`, and asks `weights` for its parameters and for what it imports of the load
/// program. Other imports come from the source program. `first` are kernels that stand before those
/// of kernel_rows() and must outlive the plan.
std::unique_ptr<ProgramPlan> plan_program(Graph program, WeightRegion& weights,
                                          std::span<const KernelRow> first = {});

}  // namespace fuselage::cpu
