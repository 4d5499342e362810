#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/cpu/plan.h"

namespace fuselage::cpu {

/// What a kernel may look at when it is bound to a node.
struct Binding {
  const Graph& graph;
  const Node& node;
  ProgramPlan& plan;
  WeightRegion& weights;
};

/// An operand that is a stored matrix, packed. The instruction reads it in this form alone.
std::shared_ptr<const PackedMatrix> packed_operand(Instruction& in, const Binding& binding,
                                                   std::size_t operand, const MatrixShape& shape);

/// One line of the table: a kernel that can run an op. For each op the first line that does not
/// refuse a node is taken, so the best stand first and the reference evaluation stands last.
struct KernelRow {
  std::string_view op;  ///< "*": any op with a reference evaluation
  std::string_view name;
  /// Bit i: operand i may be read through an index or from some columns of a buffer.
  std::uint32_t views = 0;
  /// The reason why it cannot run the node; empty: it can.
  std::string (*refuse)(const Graph&, const Node&) = nullptr;
  /// Reads attributes and packs weights.
  void (*bind)(Instruction&, const Binding&) = nullptr;
  void (*run)(const Instruction&, const Run&) = nullptr;
  /// Bit i: operand i, which the kernel reads through an index of its own, may be some columns.
  std::uint32_t columns = 0;

  bool reads_views(std::size_t operand) const {
    return operand < 32 ? (views >> operand & 1u) != 0 : views == kAllViews;
  }
  bool reads_columns(std::size_t operand) const {
    return reads_views(operand) || (operand < 32 && (columns >> operand & 1u) != 0);
  }
  static constexpr std::uint32_t kAllViews = 0xffffffffu;
};

std::span<const KernelRow> kernel_rows();

/// True for a value that no instruction computes: a parameter, an import, a constant.
bool is_stored(const Graph& graph, const Node& node);

/// Why a kernel was not taken for a node.
struct Rejection {
  std::string_view kernel;
  std::string reason;
};

/// The line that runs a node, of `first` and then of the table, and why those before it do not.
/// Throws Error when there is none.
struct KernelChoice {
  const KernelRow* row = nullptr;
  std::vector<Rejection> rejections;
};
KernelChoice choose_kernel(const Graph& graph, NodeId id, std::span<const KernelRow> first = {});

}  // namespace fuselage::cpu
