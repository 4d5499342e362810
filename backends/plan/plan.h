#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/executable.h"
#include "backends/plan/operand_reads.h"
#include "base/tensor.h"
#include "graph/graph.h"

namespace fuselage {

inline constexpr std::uint32_t kForever = 0xffffffffu;
inline constexpr std::int32_t kNone = -1;

/// What planning has to know of a kernel. A back-end has a table of them: for each op the first
/// that does not refuse a node runs it, so the best stand first.
struct KernelInfo {
  std::string_view op;  ///< "*": any op
  std::string_view name;
  OperandReads reads;
  /// The reason why it cannot run the node; empty: it can.
  std::string (*refuse)(const Graph&, const Node&) = nullptr;
  /// Gives the quantized vectors of its results too, where a node asks for them.
  bool quantizes = false;
};

/// A back-end's kernels, best first.
using KernelSet = std::vector<const KernelInfo*>;

/// Why a kernel was not taken for a node.
struct Rejection {
  std::string_view kernel;
  std::string reason;
};

/// The kernel that runs a node, and why those before it do not; null when none can.
struct KernelChoice {
  const KernelInfo* kernel = nullptr;
  std::vector<Rejection> rejections;
};
KernelChoice choose_kernel(const Graph& graph, const Node& node, const KernelSet& kernels);

/// The choice as dumps show it: "packed_gemm", or "reference (packed_gemm: it works on one vector a
/// row)".
std::string describe(const KernelChoice& choice);

/// The same of a node of a program; empty for what is stored.
std::string describe_kernel(const Graph& program, NodeId id, const KernelSet& kernels);

/// For each node of a program that no kernel can run, where it is and why not.
std::vector<std::string> nodes_without_kernel(const Graph& program, const KernelSet& kernels);

/// True for a value that no instruction computes: a parameter, an import, a constant.
bool is_stored(const Graph& graph, const Node& node);

/// Elements of 4 bytes that a row of the type takes; quantized vectors include their scales.
/// Numbers of 16 bits have no gaps between rows: all of them together may take less.
std::int64_t row_elements(const Type& type);

/// A block of memory that holds one value for the rows of its domain.
struct Buffer {
  enum class Kind : std::uint8_t {
    arena,     ///< placed in the worker's arena for each batch
    weight,    ///< known when the plan is made, and shared by all workers
    imported,  ///< a result of the source program
  };
  Kind kind = Kind::arena;
  DomainId domain;
  std::int64_t row_elements = 0;
  /// A prefix buffer that keeps only the rows of the current step, as nothing reads older ones.
  bool newest_only = false;
  std::uint32_t first = 0, last = 0;  ///< arena: live between these instructions, both included
  /// Import, and weight that is no constant: its name, and the value that it is in the graph.
  std::string name;
  ValueId value;
  std::shared_ptr<const Tensor> constant;  ///< weight: what it holds, where the graph says it
};

/// Where a value's rows are: columns of a buffer, possibly read through an index.
struct BufferView {
  std::uint32_t buffer = 0;
  std::int64_t offset = 0;               ///< first element within a row
  std::int64_t stride = 0;               ///< elements from row to row; 0 for a value without rows
  std::int64_t cols = 0;                 ///< elements of a row
  std::int32_t index = kNone;            ///< number of an IndexSlot
  std::int32_t fallback_buffer = kNone;  ///< for rows that the index leaves out; kNone: zeros
};

/// A path of maps whose composed index some place reads through.
struct IndexSlot {
  MapPath path;
  DomainId from;
};

/// A node bound to a kernel. A state's operands are its initial value and what `next` leaves; the
/// only one of `next` is the new value, and its result is what the state reads. `collect` and
/// `history` compute the rows of their operand.
struct PlannedInstruction {
  NodeId node;
  const KernelInfo* kernel = nullptr;  ///< nullptr: a view, nothing to do
  DomainId domain;                     ///< whose rows it computes
  std::vector<BufferView> operands;
  std::vector<BufferView> results;
};

/// Instructions begin … end - 1 are the body of a scan.
struct Loop {
  DomainId scan;
  std::uint32_t begin = 0, end = 0;
};

/// One of the three programs, with a kernel for each node and a place for each value. Knows no
/// back-end.
struct ProgramPlan {
  Graph graph;
  std::vector<PlannedInstruction> instructions;
  std::vector<Loop> loops;
  std::vector<Buffer> buffers;
  std::vector<IndexSlot> indexes;
  std::vector<BufferView> outputs;  ///< in the graph's order
};

/// Plans `program`. Imports of what the load program gives are weights; the others come from the
/// source program. Throws Error with all the nodes that no kernel can run.
ProgramPlan plan_program(Graph program, const KernelSet& kernels);

/// A plan as people look at it.
std::vector<PlannedNode> planned_nodes(const ProgramPlan& plan);

}  // namespace fuselage
