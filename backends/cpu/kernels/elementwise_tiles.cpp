#include "backends/cpu/kernels/elementwise_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "ops/call_op.h"

namespace fuselage::cpu {
namespace {

using Kind = ElementwiseExpression::Argument::Kind;

constexpr std::size_t kTile = 256;     ///< columns; a slot takes 1 KB of the L1 cache
constexpr std::size_t kMaxSlots = 16;  ///< simultaneously live values
constexpr std::size_t kMaxArguments = 8;

constexpr std::pair<std::string_view, Unary> kUnary[] = {
    {op::Neg::kName, Unary::neg},
    {op::Sigmoid::kName, Unary::sigmoid},
    {op::Tanh::kName, Unary::tanh},
    {op::SigmoidFast::kName, Unary::sigmoid_fast},
    {op::TanhFast::kName, Unary::tanh_fast},
    {op::SigmoidTable::kName, Unary::sigmoid_table},
    {op::TanhTable::kName, Unary::tanh_table},
    {op::Relu::kName, Unary::relu},
    {op::Swish::kName, Unary::swish},
    {op::Gelu::kName, Unary::gelu},
    {op::Exp::kName, Unary::exp},
    {op::Log::kName, Unary::log},
    {op::Sqrt::kName, Unary::sqrt},
    {op::Abs::kName, Unary::abs}};
constexpr std::pair<std::string_view, Binary> kBinary[] = {
    {op::Add::kName, Binary::add},         {op::Sub::kName, Binary::sub},
    {op::Mul::kName, Binary::mul},         {op::Div::kName, Binary::div},
    {op::Max::kName, Binary::max},         {op::Min::kName, Binary::min},
    {op::Equal::kName, Binary::equal},     {op::NotEqual::kName, Binary::not_equal},
    {op::Less::kName, Binary::less},       {op::LessEqual::kName, Binary::less_equal},
    {op::Greater::kName, Binary::greater}, {op::GreaterEqual::kName, Binary::greater_equal}};

template <typename Op, std::size_t kSize>
std::optional<Op> named(std::string_view name,
                        const std::pair<std::string_view, Op> (&table)[kSize]) {
  for (const auto& [known, op] : table)
    if (known == name) return op;
  return std::nullopt;
}

bool has_vector_function(const ElementwiseExpression::Step& step) {
  if (step.arguments.size() == 1) return unary_named(step.op->name).has_value();
  return step.arguments.size() == 2 && binary_named(step.op->name).has_value();
}

/// Assigns a slot to each step's value. A slot is freed after the last step that reads it; results
/// keep theirs. Returns the number of slots.
std::size_t plan_slots(const ElementwiseExpression& expression,
                       std::vector<std::uint32_t>& slot_of_step) {
  const std::size_t count = expression.steps.size();
  std::vector<std::size_t> last_use(count);
  for (std::size_t i = 0; i < count; ++i) {
    last_use[i] = i;
    for (const auto& argument : expression.steps[i].arguments)
      if (argument.kind == Kind::step) last_use[argument.index] = i;
  }
  for (const auto& result : expression.results) last_use[result.index] = count;
  std::vector<bool> taken;
  slot_of_step.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto free_arguments = [&] {
      for (const auto& argument : expression.steps[i].arguments)
        if (argument.kind == Kind::step && last_use[argument.index] == i)
          taken[slot_of_step[argument.index]] = false;
    };
    // Arguments read here for the last time free their slot for the result: vector functions may
    // write in place, but row functions may not.
    const bool in_place = has_vector_function(expression.steps[i]);
    if (in_place) free_arguments();
    const auto free = std::find(taken.begin(), taken.end(), false);
    slot_of_step[i] = static_cast<std::uint32_t>(free - taken.begin());
    if (free == taken.end())
      taken.push_back(true);
    else
      *free = true;
    if (!in_place) free_arguments();
  }
  return taken.size();
}

}  // namespace

std::optional<Unary> unary_named(std::string_view op) { return named(op, kUnary); }
std::optional<Binary> binary_named(std::string_view op) { return named(op, kBinary); }

std::string ElementwiseTiles::refuse(const ElementwiseExpression& expression) {
  for (const ElementwiseExpression::Step& step : expression.steps) {
    if (has_vector_function(step)) continue;
    if (!step.op->row) return fmt::format("{} has no row function", step.op->name);
    if (step.arguments.size() > kMaxArguments)
      return fmt::format("{} has {} operands, more than {}", step.op->name, step.arguments.size(),
                         kMaxArguments);
  }
  std::vector<std::uint32_t> slots;
  const std::size_t live = plan_slots(expression, slots);
  if (live > kMaxSlots)
    return fmt::format("{} values are live at once, more than {}", live, kMaxSlots);
  return "";
}

ElementwiseTiles::ElementwiseTiles(const ElementwiseExpression& expression,
                                   const std::vector<bool>& scalar) {
  check(refuse(expression).empty(), "an expression without a kernel");
  std::vector<std::uint32_t> slots;
  plan_slots(expression, slots);
  const KernelTable& table = kernels();
  for (std::size_t i = 0; i < expression.steps.size(); ++i) {
    const ElementwiseExpression::Step& from = expression.steps[i];
    Step step{.row = {}, .arguments = {}, .slot = slots[i]};
    for (const ElementwiseExpression::Argument& argument : from.arguments)
      step.arguments.push_back(source_of(argument, scalar, slots));
    if (!has_vector_function(from)) {
      Node node;
      node.op = from.op;
      node.attrs = from.attrs;
      step.row = bind_row_function(node);
    } else if (from.arguments.size() == 1) {
      step.unary = table.unary_row(*unary_named(from.op->name), step.arguments[0].scalar);
    } else {
      step.binary = table.binary_row(*binary_named(from.op->name), step.arguments[0].scalar,
                                     step.arguments[1].scalar);
    }
    steps_.push_back(std::move(step));
  }
  for (const auto& result : expression.results) results_.push_back(slots[result.index]);
}

ElementwiseTiles::Source ElementwiseTiles::source_of(
    const ElementwiseExpression::Argument& argument, const std::vector<bool>& scalar,
    const std::vector<std::uint32_t>& slot_of_step) {
  if (argument.kind == Kind::operand)
    return {argument.kind, argument.index, scalar.at(argument.index)};
  if (argument.kind == Kind::step) return {argument.kind, slot_of_step[argument.index], false};
  numbers_.push_back(static_cast<float>(argument.number));
  return {argument.kind, static_cast<std::uint32_t>(numbers_.size() - 1), true};
}

void ElementwiseTiles::run(const RowsIn* operands, std::size_t rows, std::size_t cols,
                           const RowsOut* results) const {
  run_columns(operands, rows, 0, cols, results);
}

void ElementwiseTiles::run_columns(const RowsIn* operands, std::size_t rows, std::size_t first,
                                   std::size_t cols, const RowsOut* results) const {
  alignas(64) float slots[kMaxSlots][kTile];
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t begin = first; begin < first + cols; begin += kTile) {
      const std::size_t n = std::min(kTile, first + cols - begin);
      const auto row = [&](const Source& source) -> const float* {
        if (source.kind == Kind::step) return slots[source.index];
        if (source.kind == Kind::number) return &numbers_[source.index];
        const RowsIn& in = operands[source.index];
        return row_of(in, r, in.columns) + (source.scalar ? 0 : begin);
      };
      for (const Step& step : steps_) {
        const Source* const arguments = step.arguments.data();
        if (step.unary) {
          step.unary(row(arguments[0]), n, slots[step.slot]);
        } else if (step.binary) {
          step.binary(row(arguments[0]), row(arguments[1]), n, slots[step.slot]);
        } else {
          std::array<RowOperand<float>, kMaxArguments> in;
          const std::size_t count = step.arguments.size();
          for (std::size_t i = 0; i < count; ++i)
            in[i] = {row(arguments[i]), arguments[i].scalar ? 1 : n};
          step.row.f32({in.data(), count}, {slots[step.slot], n});
        }
      }
      // Written last, since a result may alias an operand.
      for (std::size_t i = 0; i < results_.size(); ++i)
        std::copy_n(slots[results_[i]], n, results[i].data + r * results[i].stride + begin);
    }
}

}  // namespace fuselage::cpu
