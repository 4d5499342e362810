#include "fuselage/graph/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

void OpRegistry::add(std::span<const OpDef> ops) {
  for (const OpDef& op : ops) {
    std::vector<std::string_view> names = op.former_names;
    names.push_back(op.name);
    for (const std::string_view name : names)
      if (find(name)) throw InternalError(fmt::format("two ops are called '{}'", name));
    for (const OperandSpec& operand : op.operands) {
      if (operand.through.empty()) continue;
      const auto index = op.attribute_index(operand.through);
      if (!index || op.attributes[*index].kind != AttrKind::path)
        throw InternalError(fmt::format("operand '{}' of {} is read through '{}', which is no path",
                                        operand.name, op.name, operand.through));
    }
    ops_.push_back(&op);
  }
}

const OpDef* OpRegistry::find(std::string_view name) const {
  for (const OpDef* op : ops_)
    if (op->name == name ||
        std::find(op->former_names.begin(), op->former_names.end(), name) != op->former_names.end())
      return op;
  return nullptr;
}

}  // namespace fuselage
