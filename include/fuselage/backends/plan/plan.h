#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/backends/plan/operand_reads.h"
#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

inline constexpr std::uint32_t kForever = 0xffffffffu;
inline constexpr std::int32_t kNone = -1;

/// The description of a kernel for planning. A back-end lists its kernels best first; a node runs
/// on the first kernel of its op that does not refuse it.
struct KernelInfo {
  std::string_view op = {};  ///< "*": any op
  std::string_view name = {};
  OperandReads reads = {};
  /// The reason why the kernel cannot run the node; empty: it can.
  std::string (*refuse)(const Graph&, const Node&) = nullptr;
  /// Whether it can also give its results quantized to integers, and rounded to 16-bit floats.
  bool quantizes = false;
  bool rounds = false;
  /// Whether it appends the rows of this step to a history that it reads as operand `operand`, if
  /// it alone reads it; nullptr: to none.
  bool (*appends)(const Graph&, const Node&, std::size_t operand) = nullptr;
  /// Whether it is the op's reference evaluation, which is slow and allocates.
  bool is_reference = false;
  /// For kernels of any op: whether nodes of this op can run on it at all; nullptr: all ops.
  bool (*serves)(const OpDef&) = nullptr;
  /// Who registered it: "the extension FILE" or "this program"; empty for kernels of the tree.
  /// register_kernels sets it.
  std::string_view registered_by = {};
};

/// A back-end's kernels, best first.
using KernelSet = std::vector<const KernelInfo*>;

/// The reason for not choosing a kernel.
struct Rejection {
  std::string_view kernel;
  std::string reason;
};

/// The kernel that runs a node (null: none can), and the reasons against better ones.
struct KernelChoice {
  const KernelInfo* kernel = nullptr;
  std::vector<Rejection> rejections;
};
/// Throws InternalError, with the nearest op, for a kernel of an op that does not exist.
void check_kernels(const KernelSet& kernels);

KernelChoice choose_kernel(const Graph& graph, const Node& node, const KernelSet& kernels);

/// The choice as dumps show it: "packed_gemm", or "reference (packed_gemm: it works on one vector a
/// row)".
std::string describe(const KernelChoice& choice);

/// The same for a node of a program; empty for stored values.
std::string describe_kernel(const Graph& program, NodeId id, const KernelSet& kernels);

/// A line for each node that no kernel can run, with its location and the reasons.
std::vector<std::string> nodes_without_kernel(const Graph& program, const KernelSet& kernels);

/// Whether a value is stored rather than computed by an instruction: a parameter, import or
/// constant.
bool is_stored(const Graph& graph, const Node& node);

/// Size of a row in units of 4 bytes, with the scales of quantized vectors. Rows of 16-bit floats
/// are stored without gaps, so a buffer may be smaller than rows times this.
std::int64_t row_elements(const Type& type);

/// A block of memory that holds one value for the rows of its domain.
struct Buffer {
  enum class Kind : std::uint8_t {
    arena,     ///< in the worker's arena; placed per batch
    weight,    ///< known at planning, shared by all workers
    imported,  ///< a result of the source program
  };
  Kind kind = Kind::arena;
  DomainId domain;
  std::int64_t row_elements = 0;
  /// A prefix buffer that keeps only the rows of the current step, since older rows are not read.
  bool newest_only = false;
  std::uint32_t first = 0, last = 0;  ///< arena: live range, inclusive instruction indexes
  /// For imports, and weights other than constants: the name, and the value in the graph.
  std::string name;
  ValueId value;
  std::shared_ptr<const Tensor> constant;  ///< weight: the content of a constant
};

/// A view of a value's rows: a range of columns of a buffer, optionally through an index.
struct BufferView {
  std::uint32_t buffer = 0;
  std::int64_t offset = 0;               ///< first element within a row
  std::int64_t stride = 0;               ///< elements from row to row; 0 for a value without rows
  std::int64_t cols = 0;                 ///< elements of a row
  std::int32_t index = kNone;            ///< number of an IndexSlot
  std::int32_t fallback_buffer = kNone;  ///< default row for index -1; kNone: zeros
};

/// A path of maps whose composed index a view reads through.
struct IndexSlot {
  MapPath path;
  DomainId from;
};

/// The new rows of a history that a kernel appends: `operand` reads the history.
struct AppendedRows {
  std::size_t operand = 0;
  BufferView rows;
};

/// A node bound to a kernel. Operands of a state: its initial value and its carried value. `next`
/// has one operand, the new value; its result is the state's carried value. `collect` and `history`
/// compute the rows of their operand.
struct PlannedInstruction {
  NodeId node;
  const KernelInfo* kernel = nullptr;  ///< nullptr: a view, not executed
  DomainId domain;                     ///< the domain of the rows that it computes
  std::vector<BufferView> operands;
  std::vector<BufferView> results;
  std::vector<AppendedRows> appended;
};

/// Instructions begin … end - 1 are the body of a scan.
struct Loop {
  DomainId scan;
  std::uint32_t begin = 0, end = 0;
};

/// One of the three programs, with a kernel for each node and a buffer view for each value.
/// Independent of the back-end.
struct ProgramPlan {
  Graph graph;
  std::vector<PlannedInstruction> instructions;
  std::vector<Loop> loops;
  std::vector<Buffer> buffers;
  std::vector<IndexSlot> indexes;
  std::vector<BufferView> outputs;  ///< in the graph's order
};

/// Plans `program`. Imports from the load program are weights; other imports come from the source
/// program. Throws Error with all nodes that no kernel can run.
ProgramPlan plan_program(Graph program, const KernelSet& kernels);

/// A plan for display.
std::vector<PlannedNode> planned_nodes(const ProgramPlan& plan);

}  // namespace fuselage
