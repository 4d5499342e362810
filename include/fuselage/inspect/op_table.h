#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/domain.h"
#include "fuselage/graph/op.h"

namespace FUSELAGE_API fuselage {

/// A back-end's kernels for an op, in some programs.
struct OpKernels {
  std::string_view backend;
  std::vector<BindingTime> programs;
  std::vector<std::string_view> kernels;  ///< best first; empty: the op cannot run there
};

/// An op of the registry, and the kernels of all back-ends that run programs by plans. A kernel may
/// refuse some nodes of an op that it is listed for.
struct OpEntry {
  const OpDef* op = nullptr;
  std::vector<OpKernels> kernels;
};

/// All ops of the registry, in order of registration, which keeps the ops of a family together.
std::vector<OpEntry> op_table();

/// The op `name`, also by a former name. Throws Error with the nearest name if there is none.
OpEntry find_op_entry(std::string_view name);

/// The op as a call in the text form of graphs: "select_rows(x, [default]) {via = path}".
std::string signature_of(const OpDef& op);

/// The op's traits as phrases, such as "linear in its first operand".
std::vector<std::string_view> traits_in_words(const OpDef& op);

/// A line for each op: its name and summary.
std::string print_op_list(std::span<const OpEntry> ops);

/// Everything that is known about each op, as text.
std::string print_ops(std::span<const OpEntry> ops);

/// The same as JSON; docs/ops.md describes the fields.
std::string print_ops_json(std::span<const OpEntry> ops);

/// The same as the Markdown page docs/ops.md.
std::string print_ops_page(std::span<const OpEntry> ops);

}  // namespace fuselage
