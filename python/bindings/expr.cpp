#include "python/bindings/expr.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <string>
#include <vector>

#include "python/bindings/bindings.h"
#include "python/bindings/text.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace fuselage;

CodeLocation python_location() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return CodeLocation::current("python", 0);
  const auto code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  // A location refers to the name of its file for as long as the process lives.
  static auto& files = *new std::set<std::string>();
  const nb::object name = code.attr("co_filename");
  const auto bytes =
      nb::steal<nb::bytes>(PyUnicode_AsEncodedString(name.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  const auto& file = *files.insert(std::string(bytes.c_str(), bytes.size())).first;
  return CodeLocation::current(file.c_str(),
                               static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame)));
}

namespace {

using Unary = Expr (*)(Operand);
using Binary = Expr (*)(Operand, Operand);

BoundExpr apply(Unary f, const BoundOperand& x) {
  Equation e;
  return e.result(f(e(x)));
}

BoundExpr apply(Binary f, const BoundOperand& a, const BoundOperand& b) {
  Equation e;
  const Operand left = e(a);
  return e.result(f(left, e(b)));
}

void bind_operators(nb::class_<BoundExpr>& cls) {
  const auto bind = [&](const char* name, const char* reflected, Binary f) {
    cls.def(
        name, [f](const BoundExpr& a, const BoundOperand& b) { return apply(f, a, b); }, "other"_a,
        nb::is_operator());
    cls.def(
        reflected, [f](const BoundExpr& a, const BoundOperand& b) { return apply(f, b, a); },
        "other"_a, nb::is_operator());
  };
  bind("__add__", "__radd__", [](Operand a, Operand b) { return a + b; });
  bind("__sub__", "__rsub__", [](Operand a, Operand b) { return a - b; });
  bind("__mul__", "__rmul__", [](Operand a, Operand b) { return a * b; });
  bind("__truediv__", "__rtruediv__", [](Operand a, Operand b) { return a / b; });
  cls.def("__neg__", [](const BoundExpr& x) { return apply([](Operand a) { return -a; }, x); });
}

/// "hyp f32[8]".
std::string type_text(const BoundExpr& value) {
  const Type& type = value.expr.type();
  std::string dims;
  for (const std::int64_t dim : type.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  const Domain& domain = value.builder->graph().domain(type.domain);
  return (domain.name.empty() ? "" : domain.name + " ") + std::string(to_string(type.dtype)) + "[" +
         dims + "]";
}

/// x[..., begin:end]: elements along the last dimension, with Python's negative and missing bounds.
BoundExpr elements(const BoundExpr& x, const nb::handle& key) {
  constexpr const char* kForm = "a value of a graph takes x[..., begin:end]";
  if (!nb::isinstance<nb::tuple>(key)) throw nb::type_error(kForm);
  const auto parts = nb::borrow<nb::tuple>(key);
  if (parts.size() != 2 || !parts[0].is(nb::ellipsis()) || !nb::isinstance<nb::slice>(parts[1]))
    throw nb::type_error(kForm);
  const auto number = [&](const char* name, std::int64_t missing) {
    const nb::object given = parts[1].attr(name);
    std::int64_t found = missing;
    if (!given.is_none() && !nb::try_cast(given, found)) throw nb::type_error(kForm);
    return found;
  };
  if (number("step", 1) != 1)
    throw Error("x[..., begin:end] takes no step; it gives elements side by side");
  const std::int64_t width = x.expr.width();
  std::int64_t begin = number("start", 0), end = number("stop", width);
  if (begin < 0) begin += width;
  if (end < 0) end += width;
  Equation e;
  return e.result(slice({e(x), e.at()}, begin, end));
}

void bind_expr(nb::module_& module) {
  nb::class_<BoundExpr> cls(module, "Expr", "A value of a graph under construction.");
  cls.def_prop_ro(
         "width", [](const BoundExpr& self) { return self.expr.width(); },
         "Length of the last dimension; 1 for one scalar per row.")
      .def_prop_ro(
          "dims", [](const BoundExpr& self) { return self.expr.type().dims; },
          "Dimensions of a row.")
      .def_prop_ro("type", type_text, "Domain, number type and dimensions, as text.")
      .def(
          "named",
          [](const BoundExpr& self, const Text& name) {
            self.expr.named(name.utf8());
            return self;
          },
          "name"_a, "Names the value, for dumps and messages.")
      .def("__getitem__", elements, "key"_a,
           "x[..., begin:end]: elements begin ... end - 1 of the last dimension.")
      .def("__repr__", [](const BoundExpr& self) { return "Expr(" + type_text(self) + ")"; });
  bind_operators(cls);
}

void bind_elementwise(nb::module_& module) {
  const auto unary = [&](const char* name, Unary f, const char* doc) {
    module.def(
        name, [f](const BoundOperand& x) { return apply(f, x); }, "x"_a, doc);
  };
  unary("sigmoid", sigmoid, "1 / (1 + exp(-x)).");
  unary("tanh", tanh, "Hyperbolic tangent.");
  unary("relu", relu, "max(x, 0).");
  unary("swish", swish, "x * sigmoid(x).");
  unary("gelu", gelu, "The exact one, with the error function.");
  unary("exp", exp, "The exponential.");
  unary("log", log, "The natural logarithm.");
  unary("sqrt", sqrt, "The square root.");
  unary("abs", abs, "The magnitude.");
  unary("sin", sin, "The sine of an angle in radians.");
  unary("cos", cos, "The cosine of an angle in radians.");
  unary("softmax", softmax, "Softmax over a row.");
  unary("log_softmax", log_softmax, "Its logarithm.");
  unary("reduce_sum", reduce_sum, "Sum over the last dimension.");
  unary("reduce_max", reduce_max, "Maximum over the last dimension.");
  unary("reduce_mean", reduce_mean, "Mean over the last dimension.");
  unary("collect", collect,
        "Collects the rows of all iterations of a scan at their source positions.");
  unary("mean_rows", mean_rows, "Mean over the source tokens of each sentence.");
  unary("sum_rows", sum_rows,
        "Sum over the source tokens of each sentence, or the pairs of each left member.");
  unary("max_rows", max_rows, "Maximum, as sum_rows.");
  unary("log_sum_exp_rows", log_sum_exp_rows, "Logarithm of the sum of exponentials, as sum_rows.");
  unary("softmax_over_right", softmax_over_right, "Softmax over the pairs of each left member.");

  const auto binary = [&](const char* name, Binary f, const char* doc) {
    module.def(
        name, [f](const BoundOperand& a, const BoundOperand& b) { return apply(f, a, b); }, "a"_a,
        "b"_a, doc);
  };
  binary("max", max, "The larger of a and b, element by element.");
  binary("min", min, "The smaller of a and b, element by element.");
  binary("equal", equal, "1 where a = b, else 0.");
  binary("not_equal", not_equal, "1 where a and b differ, else 0.");
  binary("less", less, "1 where a < b, else 0.");
  binary("less_equal", less_equal, "1 where a <= b, else 0.");
  binary("greater", greater, "1 where a > b, else 0.");
  binary("greater_equal", greater_equal, "1 where a >= b, else 0.");
  binary("outer", outer, "a b^T, of the vectors in each row.");
  module.def(
      "where",
      [](const BoundOperand& condition, const BoundOperand& a, const BoundOperand& b) {
        Equation e;
        const Operand test = e(condition);
        const Operand yes = e(a);
        return e.result(where(test, yes, e(b)));
      },
      "condition"_a, "a"_a, "b"_a, "a where the condition is not 0, else b.");
}

void bind_products(nb::module_& module) {
  const auto product = [&](const char* name, Expr (*f)(Operand, Expr), const char* doc) {
    module.def(
        name,
        [f](const BoundOperand& x, const BoundExpr& w) {
          Equation e;
          const Operand left = e(x);
          return e.result(f(left, e(w)));
        },
        "x"_a, "w"_a, doc);
  };
  product("dot", dot, "x W, row by row; W is a weight [in, out].");
  product("dot_transposed", dot_transposed,
          "x W^T; W is a weight [out, in], or a table with a row for each output.");
  product("mix", mix,
          "For each left member, the sum of weight * value of the right member, head by head.");
  module.def(
      "batch_matmul",
      [](const BoundOperand& a, const BoundExpr& b, bool transposed) {
        Equation e;
        const Operand left = e(a);
        return e.result(batch_matmul(left, e(b), transposed));
      },
      "a"_a, "b"_a, "transposed"_a = false,
      "The products of the matrices in each row: [..., m, k] and [..., k, n], or [..., n, k] if "
      "transposed.");
  module.def(
      "head_dot",
      [](const BoundOperand& a, const BoundExpr& b, std::int64_t heads, double scale) {
        Equation e;
        const Operand left = e(a);
        return e.result(head_dot(left, e(b), heads, scale));
      },
      "a"_a, "b"_a, "heads"_a, "scale"_a, "scale * dot product within each head.");
  module.def(
      "layer_norm",
      [](const BoundOperand& x, const BoundExpr& gain, const std::optional<BoundExpr>& bias,
         double epsilon) {
        Equation e;
        const Operand operand = e(x);
        return e.result(layer_norm(operand, e(gain), bias ? e(*bias) : Expr(), epsilon));
      },
      "x"_a, "gain"_a, "bias"_a = nb::none(), "epsilon"_a = 1e-6, "Layer normalization of a row.");
  module.def(
      "rms_norm",
      [](const BoundOperand& x, const BoundExpr& gain, double epsilon) {
        Equation e;
        const Operand operand = e(x);
        return e.result(rms_norm(operand, e(gain), epsilon));
      },
      "x"_a, "gain"_a, "epsilon"_a = 1e-6, "x / sqrt(mean(x^2) + epsilon) * gain.");
  module.def(
      "rotary",
      [](const BoundOperand& x, const BoundExpr& cosines, const BoundExpr& sines,
         std::int64_t heads) {
        Equation e;
        const Operand operand = e(x);
        return e.result(rotary(operand, e(cosines), e(sines), heads));
      },
      "x"_a, "cos"_a, "sin"_a, "heads"_a, "Rotary positions.");
}

void bind_shapes(nb::module_& module) {
  module.def(
      "concat",
      [](const std::vector<BoundExpr>& parts) {
        Equation e;
        std::vector<Expr> exprs;
        for (const BoundExpr& part : parts) exprs.push_back(e(part));
        return e.result(concat(exprs, e.at()));
      },
      "parts"_a, "Concatenation along the last dimension.");
  module.def(
      "slice",
      [](const BoundOperand& x, std::int64_t begin, std::int64_t end) {
        Equation e;
        return e.result(slice(e(x), begin, end));
      },
      "x"_a, "begin"_a, "end"_a, "Elements begin ... end - 1 of each row.");
  const auto shape = [&](const char* name, Expr (*f)(Operand, Dims), const char* doc) {
    module.def(
        name,
        [f](const BoundOperand& x, Dims dims) {
          Equation e;
          return e.result(f(e(x), std::move(dims)));
        },
        "x"_a, "dims"_a, doc);
  };
  shape("reshape", reshape, "The same elements, in the same order, under other dimensions.");
  shape("expand", expand, "Dimensions of size 1 repeated to dims, as numpy's broadcast_to.");
  shape("permute", permute, "Dimensions in another order: i of the result is dims[i].");
  module.def(
      "cast",
      [](const BoundOperand& x, const Text& to) {
        const std::string& name = to.utf8();
        const std::optional<DType> dtype = dtype_from_string(name);
        if (!dtype) throw Error("there is no number type '" + name + "'; choose f32, bf16 or f16");
        Equation e;
        return e.result(cast(e(x), *dtype));
      },
      "x"_a, "to"_a, "x as numbers of another type: \"f32\", \"bf16\", \"f16\".");
  module.def(
      "sinusoid",
      [](const BoundOperand& position, std::int64_t dim) {
        Equation e;
        return e.result(sinusoid(e(position), dim));
      },
      "position"_a, "dim"_a, "Sinusoidal position encoding of dim elements.");
}

void bind_rows(nb::module_& module) {
  module.def(
      "select_rows",
      [](const BoundOperand& x, const MapPath& via, const std::optional<BoundExpr>& fallback) {
        Equation e;
        const Operand operand = e(x);
        return e.result(select_rows(operand, via, fallback ? e(*fallback) : Expr()));
      },
      "x"_a, "via"_a, "default"_a = nb::none(),
      "Row via(r) of x, for each row r of the domain where the path starts; where it leads "
      "nowhere, "
      "the default row, else zeros.");
  const auto to_domain = [&](const char* name, Expr (*f)(Operand, DomainId), const char* domain,
                             const char* doc) {
    module.def(
        name,
        [f](const BoundOperand& x, DomainId id) {
          Equation e;
          return e.result(f(e(x), id));
        },
        "x"_a, nb::arg(domain), doc);
  };
  to_domain("broadcast", broadcast, "domain", "Broadcasts x to a domain that x's domain owns.");
  to_domain("history", history, "prefix",
            "Keeps a hypothesis value for every token generated so far.");
  to_domain("left", left, "pairs", "The value x of the left member of each pair.");
  to_domain("right", right, "pairs", "The value x of the right member of each pair.");
  module.def(
      "joint_attention",
      [](const std::vector<std::pair<BoundExpr, BoundExpr>>& groups) {
        Equation e;
        std::vector<AttendedGroup> attended;
        for (const auto& [scores, values] : groups)
          attended.push_back({.scores = e(scores), .right_values = e(values)});
        return e.result(joint_attention(attended, e.at()));
      },
      "groups"_a,
      "Attention with one softmax over the members of all groups: pairs of scores and values.");
}

}  // namespace

void bind_equations(nb::module_& module) {
  bind_expr(module);
  bind_elementwise(module);
  bind_products(module);
  bind_shapes(module);
  bind_rows(module);
}
