#include "fuselage/graph/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

std::string_view to_string(AttrKind kind) {
  constexpr std::array<std::string_view, 9> kNames{"integer", "real", "boolean", "string", "domain",
                                                   "path",    "dims", "reals",   "dtype"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t row_size(const Type& type) {
  std::int64_t size = 1;
  for (const std::int64_t dim : type.dims) size *= dim;
  return size;
}

std::size_t row_bytes(const Type& type) {
  const std::int64_t vector = type.dims.empty() ? 1 : type.dims.back();
  return static_cast<std::size_t>(row_size(type) / vector) * vector_bytes(type.dtype, vector);
}

std::size_t InferContext::operand_count() const { return node_.operands.size(); }

const Type& InferContext::operand(std::size_t i) const {
  return graph_.value(node_.operands.at(i)).type;
}

DomainId InferContext::none() const { return graph_.none(); }

void InferContext::fail(const std::string& message) const {
  throw Error(fmt::format("{}: {}", graph_.describe(node_), message));
}

std::string InferContext::show(const Type& type) const { return graph_.show(type); }

std::optional<std::size_t> OpDef::attribute_index(std::string_view attribute) const {
  for (std::size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].name == attribute) return i;
  return std::nullopt;
}

std::optional<std::size_t> OpDef::written_attribute_index(std::string_view attribute) const {
  for (std::size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].name == attribute || attributes[i].former_name == attribute) return i;
  return std::nullopt;
}

namespace {

/// Names as the text forms of graphs and expressions have them.
bool is_name(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), is_part);
}

std::string operand_defect(const OpDef& op) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const OperandSpec& operand = op.operands[i];
    if (operand.name.empty()) return fmt::format("operand {} has no name", i);
    if (operand.arity != OperandSpec::Arity::one && i + 1 < op.operands.size())
      return fmt::format("operand '{}' is optional or repeated, but not the last one",
                         operand.name);
    if (operand.through.empty()) continue;
    const auto index = op.attribute_index(operand.through);
    if (!index || op.attributes[*index].kind != AttrKind::path)
      return fmt::format("operand '{}' is read through '{}', which is no path", operand.name,
                         operand.through);
  }
  return "";
}

std::string attribute_defect(const OpDef& op) {
  std::set<std::string_view> names;
  for (const AttrSpec& attribute : op.attributes) {
    for (const std::string_view name : {attribute.name, attribute.former_name})
      if (!name.empty() && !names.insert(name).second)
        return fmt::format("it has two attributes '{}'", name);
    if (!is_name(attribute.name))
      return fmt::format("attribute '{}' is not made of small letters, digits and '_'",
                         attribute.name);
    if (attribute.default_value &&
        attribute.default_value->index() != static_cast<std::size_t>(attribute.kind))
      return fmt::format("the default of attribute '{}' is not of kind {}", attribute.name,
                         to_string(attribute.kind));
  }
  return "";
}

/// The contradiction in a definition; empty: none.
std::string defect_of(const OpDef& op) {
  if (op.summary.empty()) return "it has no summary";
  if (!op.infer) return "it has no infer, which determines the types of results";
  if (!op.evaluate_f32 != !op.evaluate_f64)
    return "it has a reference evaluation in float or in double, but not in both";
  if (op.has(Trait::elementwise) && !op.has(Trait::row_wise))
    return "an elementwise op is row-wise, but it lacks the trait row_wise";
  if (op.has(Trait::commutative) && op.operands.size() != 2)
    return fmt::format("a commutative op has two operands, not {}", op.operands.size());
  if (std::string defect = operand_defect(op); !defect.empty()) return defect;
  if (std::string defect = attribute_defect(op); !defect.empty()) return defect;
  if (!op.row) return "";
  if (!op.has(Trait::row_wise)) return "it has a row function, but not the trait row_wise";
  if (!op.evaluate_f32) return "it has a row function, but no reference evaluation";
  for (const OperandSpec& operand : op.operands)
    if (!operand.through.empty())
      return fmt::format("a row function reads row by row, but operand '{}' is read through '{}'",
                         operand.name, operand.through);
  return "";
}

std::vector<std::string_view> names_of(const OpDef& op) {
  std::vector<std::string_view> names{op.name};
  names.insert(names.end(), op.former_names.begin(), op.former_names.end());
  return names;
}

}  // namespace

void OpRegistry::add(std::span<const OpDef> ops) {
  const std::unique_lock lock(mutex_);
  std::set<std::string_view> added;
  for (const OpDef& op : ops) {
    for (const std::string_view name : names_of(op)) {
      if (!is_name(name))
        throw Error(fmt::format(
            "an op cannot be called '{}'; give a name of small letters, digits and '_'", name));
      if (by_name_.contains(name) || !added.insert(name).second)
        throw Error(
            fmt::format("two ops are called '{}'; choose another name for one of them", name));
    }
    if (const std::string defect = defect_of(op); !defect.empty())
      throw Error(fmt::format("op '{}': {}", op.name, defect));
  }
  for (const OpDef& op : ops) {
    const OpDef& kept = ops_.emplace_back(op);
    for (const std::string_view name : names_of(kept)) by_name_.emplace(name, &kept);
  }
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const OpDef*> OpRegistry::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<const OpDef*> all;
  for (const OpDef& op : ops_) all.push_back(&op);
  return all;
}

}  // namespace fuselage
