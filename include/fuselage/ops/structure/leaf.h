#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The attributes of a value that is made outside of the program: its name and type.
template <typename Op>
constexpr auto external_attributes() {
  return std::tuple(required("name", &Op::name), defaulted("domain", &Op::domain),
                    required("dims", &Op::dims), defaulted("dtype", &Op::dtype));
}

/// A stored weight.
struct Param {
  static constexpr std::string_view kName = "param";
  std::string name;
  DomainId domain = DomainId{0};
  Dims dims;
  DType dtype = DType::f32;
  static constexpr auto attributes() { return external_attributes<Param>(); }
};

/// A result of a program with an earlier binding time.
struct Import {
  static constexpr std::string_view kName = "import";
  std::string name;
  DomainId domain = DomainId{0};
  Dims dims;
  DType dtype = DType::f32;
  static constexpr auto attributes() { return external_attributes<Import>(); }
};

/// The numbers that the caller supplies for each row of a domain; `name` is a declared input of the
/// graph, which has the type.
struct Input {
  static constexpr std::string_view kName = "input";
  std::string name;
  static constexpr auto attributes() { return std::tuple(required("name", &Input::name)); }
};

/// Numbers written in the graph; a single number fills all dimensions.
struct Constant {
  static constexpr std::string_view kName = "constant";
  std::vector<double> values;
  Dims dims;
  static constexpr auto attributes() {
    return std::tuple(required("values", &Constant::values), defaulted("dims", &Constant::dims));
  }
};

}  // namespace op

/// Ops without operands: weights, inputs, constants, results of an earlier program.
std::span<const OpDef> leaf_ops();

}  // namespace fuselage
