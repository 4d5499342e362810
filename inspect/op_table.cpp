#include "fuselage/inspect/op_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.h"
#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "inspect/op_values.h"

namespace fuselage {
namespace {

constexpr BindingTime kPrograms[] = {BindingTime::load, BindingTime::source, BindingTime::step};

/// The names of the kernels that may run nodes of the op.
std::vector<std::string_view> kernels_of(const OpDef& op, const KernelSet& kernels) {
  std::vector<std::string_view> names;
  for (const KernelInfo* kernel : kernels) {
    const bool serves =
        kernel->op == op.name || (kernel->op == "*" && (!kernel->serves || kernel->serves(op)));
    if (serves && std::find(names.begin(), names.end(), kernel->name) == names.end())
      names.push_back(kernel->name);
  }
  return names;
}

OpEntry entry_of(const OpDef& op) {
  OpEntry entry{.op = &op, .kernels = {}};
  // Constants are stored, as parameters and imports are, though they have an evaluation.
  if (&op == &op_def<op::Constant>()) return entry;
  for (const Backend* backend : all_backends()) {
    if (!backend->capabilities().plans) continue;
    for (const BindingTime program : kPrograms) {
      std::vector<std::string_view> kernels = kernels_of(op, backend->kernels(program));
      const bool as_before = !entry.kernels.empty() &&
                             entry.kernels.back().backend == backend->name() &&
                             entry.kernels.back().kernels == kernels;
      if (as_before)
        entry.kernels.back().programs.push_back(program);
      else
        entry.kernels.push_back({backend->name(), {program}, std::move(kernels)});
    }
  }
  return entry;
}

struct TraitWords {
  Trait trait;
  std::string_view words;
};

constexpr TraitWords kTraitWords[] = {
    {Trait::row_wise, "row-wise"},
    {Trait::elementwise, "elementwise"},
    {Trait::linear, "linear in its first operand"},
    {Trait::commutative, "commutative"},
    {Trait::slices, "a range of the last dimension"},
    {Trait::selects_rows, "selects rows"},
    {Trait::mixes_rows, "weighted sum of rows"},
    {Trait::changes_domain, "same rows under another domain"},
    {Trait::loop_state, "carries a value into an iteration of a loop"},
    {Trait::loop_next, "sets the next iteration's value of a state"},
    {Trait::sink, "no result, always live"},
    {Trait::external, "value from outside the graph"},
};

std::string operand_in_signature(const OperandSpec& operand) {
  switch (operand.arity) {
    case OperandSpec::Arity::one:
      return std::string(operand.name);
    case OperandSpec::Arity::optional:
      return fmt::format("[{}]", operand.name);
    case OperandSpec::Arity::repeated:
      return fmt::format("{}, …", operand.name);
    case OperandSpec::Arity::any_number:
      return fmt::format("[{}, …]", operand.name);
  }
  return "";
}

}  // namespace

std::vector<OpEntry> op_table() {
  std::vector<OpEntry> table;
  for (const OpDef* op : all_ops().all()) table.push_back(entry_of(*op));
  return table;
}

OpEntry find_op_entry(std::string_view name) {
  if (const OpDef* op = all_ops().find(name)) return entry_of(*op);
  std::vector<std::string_view> names;
  for (const OpDef* op : all_ops().all()) names.push_back(op->name);
  throw Error(fmt::format("there is no op {}{}", in_quotes(name), did_you_mean(name, names)));
}

std::string signature_of(const OpDef& op) {
  std::vector<std::string> operands, attributes;
  for (const OperandSpec& operand : op.operands) operands.push_back(operand_in_signature(operand));
  for (const AttrSpec& attribute : op.attributes)
    attributes.push_back(fmt::format("{} = {}", attribute.name,
                                     attribute.default_value
                                         ? print_default(attribute)
                                         : std::string(to_string(attribute.kind))));
  std::string text = fmt::format("{}({})", op.name, fmt::join(operands, ", "));
  if (!attributes.empty()) text += fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  return text;
}

std::vector<std::string_view> traits_in_words(const OpDef& op) {
  std::vector<std::string_view> words;
  for (const TraitWords& entry : kTraitWords)
    if (op.has(entry.trait)) words.push_back(entry.words);
  return words;
}

}  // namespace fuselage
