#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/variant.h>

#include <memory>
#include <utility>
#include <variant>

#include "fuselage/base/error.h"
#include "fuselage/ops/builder.h"

/// A value under construction, which keeps its builder alive.
struct BoundExpr {
  std::shared_ptr<fuselage::Builder> builder;
  fuselage::Expr expr;
};

/// An operand of an equation.
using BoundOperand = std::variant<BoundExpr, double>;

/// The line of Python code that runs, for messages.
fuselage::CodeLocation python_location();

/// Converts the arguments of an equation and its result, which belongs to the builder of the first
/// argument that is no number.
class Equation {
 public:
  fuselage::Operand operator()(const BoundOperand& value) {
    if (const double* number = std::get_if<double>(&value)) return {*number, at_};
    return {(*this)(std::get<BoundExpr>(value)), at_};
  }
  fuselage::Expr operator()(const BoundExpr& value) {
    if (!builder_) builder_ = value.builder;
    if (builder_ != value.builder)
      throw fuselage::Error(
          "values of two builders cannot go into one equation; make both with the same builder");
    return value.expr;
  }

  const fuselage::CodeLocation& at() const { return at_; }

  BoundExpr result(fuselage::Expr expr) const { return {builder_, expr}; }

 private:
  fuselage::CodeLocation at_ = python_location();
  std::shared_ptr<fuselage::Builder> builder_;
};
