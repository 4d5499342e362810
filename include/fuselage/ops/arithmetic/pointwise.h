#pragma once

#include <span>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

// Unary ops; definitions in pointwise.cpp.

struct Neg {
  static constexpr std::string_view kName = "neg";
};
struct Sigmoid {
  static constexpr std::string_view kName = "sigmoid";
};
struct Tanh {
  static constexpr std::string_view kName = "tanh";
};
struct SigmoidFast {
  static constexpr std::string_view kName = "sigmoid_fast";
};
struct TanhFast {
  static constexpr std::string_view kName = "tanh_fast";
};
struct SigmoidTable {
  static constexpr std::string_view kName = "sigmoid_table";
};
struct TanhTable {
  static constexpr std::string_view kName = "tanh_table";
};
struct Relu {
  static constexpr std::string_view kName = "relu";
};
struct Swish {
  static constexpr std::string_view kName = "swish";
};
struct Gelu {
  static constexpr std::string_view kName = "gelu";
};
struct Exp {
  static constexpr std::string_view kName = "exp";
};
struct Log {
  static constexpr std::string_view kName = "log";
};
struct Sqrt {
  static constexpr std::string_view kName = "sqrt";
};
struct Abs {
  static constexpr std::string_view kName = "abs";
};
struct Sin {
  static constexpr std::string_view kName = "sin";
};
struct Cos {
  static constexpr std::string_view kName = "cos";
};

// Binary ops.

struct Add {
  static constexpr std::string_view kName = "add";
};
struct Sub {
  static constexpr std::string_view kName = "sub";
};
struct Mul {
  static constexpr std::string_view kName = "mul";
};
struct Div {
  static constexpr std::string_view kName = "div";
};
struct Max {
  static constexpr std::string_view kName = "max";
};
struct Min {
  static constexpr std::string_view kName = "min";
};

// Comparisons: 1 where they hold, else 0. With NaN only not_equal holds.

struct Equal {
  static constexpr std::string_view kName = "equal";
};
struct NotEqual {
  static constexpr std::string_view kName = "not_equal";
};
struct Less {
  static constexpr std::string_view kName = "less";
};
struct LessEqual {
  static constexpr std::string_view kName = "less_equal";
};
struct Greater {
  static constexpr std::string_view kName = "greater";
};
struct GreaterEqual {
  static constexpr std::string_view kName = "greater_equal";
};

// Ternary ops.

/// Operand 1 where operand 0 is not 0, else operand 2. NaN is not 0.
struct Where {
  static constexpr std::string_view kName = "where";
};

}  // namespace op

/// Elementwise ops with one to three operands.
std::span<const OpDef> pointwise_ops();

}  // namespace fuselage
