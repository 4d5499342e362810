#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/op.h"

namespace FUSELAGE_API fuselage {

// Attributes as members of a struct. An op is declared as a struct with its name and attributes:
//
//     struct Slice {
//       static constexpr std::string_view kName = "slice";
//       std::int64_t begin = 0;
//       std::int64_t end = 0;
//       static constexpr auto attributes() {
//         return std::tuple(required("begin", &Slice::begin), required("end", &Slice::end));
//       }
//     };
//
// A struct without a name is a group of attributes shared by several ops. The definition (OpDef)
// takes name and attributes from the struct, so that each is spelled once.

/// An attribute: a member of `Struct` or of a base.
template <typename Struct, typename T>
struct AttrField {
  using Member = T Struct::*;
  std::string_view name;
  Member member;
  bool is_required;
  std::string_view former_name = {};

  /// The same attribute with a former name, for older text graphs.
  constexpr AttrField formerly(std::string_view former) const {
    return {name, member, is_required, former};
  }
};

/// An attribute without a default: a text graph must write it.
template <typename Struct, typename T>
constexpr AttrField<Struct, T> required(std::string_view name, T Struct::*member) {
  return {name, member, true};
}

/// An attribute whose default is the member's initial value.
template <typename Struct, typename T>
constexpr AttrField<Struct, T> defaulted(std::string_view name, T Struct::*member) {
  return {name, member, false};
}

/// A type that declares attributes or has none: an op, or a group of attributes.
template <typename S>
concept AttrStruct = std::is_class_v<S> && std::is_default_constructible_v<S>;

/// A type that declares an op.
template <typename S>
concept OpStruct = AttrStruct<S> && requires {
  std::string_view(S::kName);
};

/// Calls f(field) for each attribute of S, in order.
template <AttrStruct S, typename F>
constexpr void for_each_attribute(F&& f) {
  if constexpr (requires { S::attributes(); })
    std::apply([&](const auto&... field) { (f(field), ...); }, S::attributes());
}

/// The AttrKind of a member type.
template <typename T>
constexpr AttrKind attr_kind() {
  return static_cast<AttrKind>(Attr(std::in_place_type<T>).index());
}

/// The attribute declarations (AttrSpec) of S.
template <AttrStruct S>
std::vector<AttrSpec> attribute_specs() {
  std::vector<AttrSpec> specs;
  const S defaults{};
  for_each_attribute<S>([&](const auto& field) {
    using T = std::remove_cvref_t<decltype(defaults.*(field.member))>;
    AttrSpec spec{field.name, attr_kind<T>()};
    if (!field.is_required)
      spec.default_value = Attr(std::in_place_type<T>, defaults.*field.member);
    spec.former_name = field.former_name;
    specs.push_back(std::move(spec));
  });
  return specs;
}

/// Whether an op has all attributes of the group S.
template <AttrStruct S>
bool declares(const OpDef& op) {
  bool all = true;
  for_each_attribute<S>(
      [&](const auto& field) { all = all && op.attribute_index(field.name).has_value(); });
  return all;
}

/// The attribute values of an S, in order.
template <AttrStruct S>
AttrList attribute_values(const S& values) {
  AttrList list;
  for_each_attribute<S>([&](const auto& field) {
    using T = std::remove_cvref_t<decltype(values.*(field.member))>;
    list.emplace_back(field.name, Attr(std::in_place_type<T>, values.*(field.member)));
  });
  return list;
}

/// The attribute of ops with Trait::external.
struct ExternalName {
  std::string name;  ///< of the value outside of the graph, such as a weight
  static constexpr auto attributes() { return std::tuple(required("name", &ExternalName::name)); }
};

/// `definition` with the name and attributes declared by S.
template <OpStruct S>
OpDef define(OpDef definition) {
  definition.name = S::kName;
  definition.attributes = attribute_specs<S>();
  return definition;
}

}  // namespace fuselage
