#include "ops/fused/elementwise_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/numbers/from_chars.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"

namespace fuselage {
namespace {

using Argument = ElementwiseExpression::Argument;
using Kind = Argument::Kind;

/// Enough for any cell, and safe for the stack.
constexpr int kMaxDepth = 200;
constexpr std::uint32_t kMaxOperands = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ElementwiseExpression parse() {
    do {
      statement();
    } while (take(';'));
    if (at_ < text_.size()) fail("';' or the end is expected");
    if (expression_.results.empty()) fail("a result is missing");
    return std::move(expression_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("expression {}: column {}: {}", in_quotes(text_), at_ + 1, what));
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}' is expected", c));
  }

  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// "NAME = expression", or a result.
  void statement() {
    const std::size_t begin = at_;
    const std::string name(word());
    if (!name.empty() && name[0] == 't' && take('=')) {
      const Argument value = expression(0);
      if (value.kind != Kind::step) fail("only a step can have a name");
      if (!names_.emplace(name, value).second) fail("this name is taken");
      return;
    }
    at_ = begin;
    const Argument result = expression(0);
    if (result.kind != Kind::step) fail("a result must be a step");
    expression_.results.push_back(result);
  }

  Argument expression(int depth) {
    if (depth > kMaxDepth) fail("it is nested too deeply");
    skip_space();
    if (at_ < text_.size() &&
        (text_[at_] == '-' || text_[at_] == '.' || (text_[at_] >= '0' && text_[at_] <= '9')))
      return number();
    const std::string name(word());
    if (name.empty()) fail("an operand, a number or an op is expected");
    if (take('(')) return call(name, depth);
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    std::uint32_t index = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 1, end, index);
    if (name[0] != 'x' || error != std::errc() || stop != end || index >= kMaxOperands)
      fail(fmt::format("there is no {}", in_quotes(name)));
    return {.kind = Kind::operand, .index = index};
  }

  template <typename T>
  T number_of_type(const char* kind) {
    T value = 0;
    const auto [stop, error] = from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(static_cast<double>(value)))
      fail(fmt::format("this is no {}", kind));
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  Argument number() {
    return {.kind = Kind::number, .number = number_of_type<double>("finite number")};
  }

  Attr attribute(AttrKind kind) {
    skip_space();
    if (kind == AttrKind::integer) return number_of_type<std::int64_t>("whole number");
    if (kind == AttrKind::real) return number_of_type<double>("finite number");
    const std::string_view value = word();
    if (value != "true" && value != "false") fail("true or false is expected");
    return value == "true";
  }

  /// "{slope = 0.2}", or nothing where all attributes have defaults.
  std::vector<Attr> attributes(const OpDef& op) {
    std::vector<std::optional<Attr>> given(op.attributes.size());
    if (take('{')) {
      do {
        const std::string_view name = word();
        const auto index = op.written_attribute_index(name);
        if (!index) fail(fmt::format("{} has no attribute {}", op.name, in_quotes(name)));
        if (given[*index]) fail(fmt::format("attribute {} is given twice", in_quotes(name)));
        expect('=');
        given[*index] = attribute(op.attributes[*index].kind);
      } while (take(','));
      expect('}');
    }
    std::vector<Attr> attrs;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const AttrSpec& spec = op.attributes[i];
      if (!given[i] && !spec.default_value)
        fail(fmt::format("{} needs the attribute {}", op.name, in_quotes(spec.name)));
      attrs.push_back(given[i] ? *given[i] : *spec.default_value);
    }
    return attrs;
  }

  Argument call(const std::string& name, int depth) {
    const OpDef* op = all_ops().find(name);
    if (!op || !op->has(Trait::elementwise))
      fail(fmt::format("{} is no elementwise op", in_quotes(name)));
    if (const auto reason = refuse_step(*op)) fail(fmt::format("{}: {}", op->name, *reason));
    ElementwiseExpression::Step step{.op = op};
    for (std::size_t i = 0; i < op->operands.size(); ++i) {
      if (i > 0) expect(',');
      step.arguments.push_back(expression(depth + 1));
    }
    expect(')');
    step.attrs = attributes(*op);
    expression_.steps.push_back(std::move(step));
    return {.kind = Kind::step, .index = static_cast<std::uint32_t>(expression_.steps.size() - 1)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::map<std::string, Argument> names_;
  ElementwiseExpression expression_;
};

class Printer {
 public:
  explicit Printer(const ElementwiseExpression& expression)
      : expression_(expression), uses_(expression.steps.size(), 0) {
    for (const ElementwiseExpression::Step& step : expression.steps)
      for (const Argument& argument : step.arguments) count(argument);
    for (const Argument& result : expression.results) count(result);
  }

  std::string print() {
    std::string text;
    const auto statement = [&text](const std::string& one) {
      if (!text.empty()) text += "; ";
      text += one;
    };
    names_.resize(expression_.steps.size());
    int named = 0;
    for (std::size_t i = 0; i < expression_.steps.size(); ++i) {
      if (uses_[i] < 2) continue;
      std::string name = fmt::format("t{}", named++);
      statement(fmt::format("{} = {}", name, show(expression_.steps[i])));
      names_[i] = std::move(name);
    }
    for (const Argument& result : expression_.results) statement(show(result));
    return text;
  }

 private:
  void count(const Argument& argument) {
    if (argument.kind == Kind::step) ++uses_[argument.index];
  }

  std::string show(const ElementwiseExpression::Step& step) const {
    std::string text = std::string(step.op->name) + "(";
    for (std::size_t i = 0; i < step.arguments.size(); ++i)
      text += (i > 0 ? ", " : "") + show(step.arguments[i]);
    return text + ")" + show_attributes(step);
  }

  static std::string show_attributes(const ElementwiseExpression::Step& step) {
    std::string text;
    for (std::size_t i = 0; i < step.attrs.size(); ++i) {
      const AttrSpec& spec = step.op->attributes[i];
      const Attr& value = step.attrs[i];
      if (spec.default_value == value) continue;
      text += fmt::format("{}{} = ", text.empty() ? " {" : ", ", spec.name);
      if (const auto* integer = std::get_if<std::int64_t>(&value))
        text += fmt::format("{}", *integer);
      else if (const auto* real = std::get_if<double>(&value))
        text += fmt::format("{}", *real);
      else
        text += std::get<bool>(value) ? "true" : "false";
    }
    return text.empty() ? "" : text + "}";
  }

  std::string show(const Argument& argument) const {
    if (argument.kind == Kind::number) return fmt::format("{}", argument.number);
    if (argument.kind == Kind::operand) return fmt::format("x{}", argument.index);
    const std::string& name = names_[argument.index];
    return name.empty() ? show(expression_.steps[argument.index]) : name;
  }

  const ElementwiseExpression& expression_;
  std::vector<int> uses_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<std::string> refuse_step(const OpDef& op) {
  // Expressions do not nest: an op with an expression attribute is inlined.
  if (declares<op::Expression>(op)) return "it has an expression of its own";
  if (op.operands.empty() || op.operands.back().arity != OperandSpec::Arity::one)
    return "its number of operands varies, which an expression cannot state";
  for (const AttrSpec& attribute : op.attributes)
    if (attribute.kind != AttrKind::integer && attribute.kind != AttrKind::real &&
        attribute.kind != AttrKind::boolean)
      return fmt::format("its attribute '{}' is of kind {}, which an expression cannot state",
                         attribute.name, to_string(attribute.kind));
  return std::nullopt;
}

ElementwiseExpression parse_expression(std::string_view text) { return Parser(text).parse(); }

std::string print_expression(const ElementwiseExpression& expression) {
  return Printer(expression).print();
}

std::size_t operand_count(const ElementwiseExpression& expression) {
  std::size_t count = 0;
  for (const ElementwiseExpression::Step& step : expression.steps)
    for (const Argument& argument : step.arguments)
      if (argument.kind == Kind::operand)
        count = std::max<std::size_t>(count, argument.index + std::size_t{1});
  return count;
}

}  // namespace fuselage
