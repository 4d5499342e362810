#include "fuselage/ops/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuselage/base/quantized.h"

namespace fuselage {

DomainId common_domain(const InferContext& in) {
  DomainId domain = in.none();
  std::size_t from = 0;
  for (std::size_t i = 0; i < in.operand_count(); ++i) {
    const DomainId other = in.operand(i).domain;
    if (other == in.none() || other == domain) continue;
    if (domain != in.none())
      in.fail(fmt::format(
          "operands {} and {} range over different rows: {} and {}; give one the other's rows with "
          "select_rows",
          from, i, in.show(in.operand(from)), in.show(in.operand(i))));
    domain = other;
    from = i;
  }
  return domain;
}

void expect_f32(const InferContext& in, std::size_t i) {
  if (in.operand(i).dtype != DType::f32)
    in.fail(fmt::format("operand {} must be f32, not {}", i, in.show(in.operand(i))));
}

void expect_real(const InferContext& in, std::size_t i) {
  if (in.operand(i).dtype != DType::f32 && !is_quantized(in.operand(i).dtype))
    in.fail(fmt::format("operand {} must be f32 or quantized, not {}", i, in.show(in.operand(i))));
}

void expect_weights_if_half(const InferContext& in, DType dtype, DomainId domain) {
  if (is_half(dtype) && in.graph().domain(domain).binding != BindingTime::load)
    in.fail(fmt::format("{} numbers are known at load time, not in rows of '{}'", to_string(dtype),
                        in.graph().domain(domain).name));
}

void expect_even_if_half(const InferContext& in, const Type& type) {
  if (is_half(type.dtype) && in.graph().domain(type.domain).binding != BindingTime::load &&
      row_size(type) % 2 != 0)
    in.fail(fmt::format("rows of {} have an even number of elements, not {}", to_string(type.dtype),
                        row_size(type)));
}

std::int64_t expect_vector(const InferContext& in, std::size_t i) {
  expect_f32(in, i);
  if (in.operand(i).dims.size() != 1)
    in.fail(fmt::format("operand {} must be a vector a row, not {}", i, in.show(in.operand(i))));
  return in.operand(i).dims[0];
}

void expect_gain(const InferContext& in, std::size_t i, std::int64_t length) {
  expect_f32(in, i);
  const Type& type = in.operand(i);
  if (type.domain != in.none() || row_size(type) != length)
    in.fail(
        fmt::format("operand {} must be f32[{}] without rows, not {}", i, length, in.show(type)));
}

std::vector<Type> same_as_first(const InferContext& in) {
  expect_f32(in, 0);
  return {in.operand(0)};
}

void expect_dims(const InferContext& in, const Dims& dims) {
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 36;
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) {
    if (dim <= 0 || dim > kMaxSize / size)
      in.fail(fmt::format("dimensions [{}] are out of range", fmt::join(dims, ", ")));
    size *= dim;
  }
}

std::pair<DomainId, DomainId> path_ends(const InferContext& in, const MapPath& path) {
  if (path.empty()) in.fail("its path of maps is empty");
  const Graph& graph = in.graph();
  for (std::size_t i = 1; i < path.size(); ++i)
    if (graph.map(path[i - 1]).to != graph.map(path[i]).from)
      in.fail(fmt::format("map '{}' leads to '{}', but the next one, '{}', starts at '{}'",
                          graph.map(path[i - 1]).name, graph.domain(graph.map(path[i - 1]).to).name,
                          graph.map(path[i]).name, graph.domain(graph.map(path[i]).from).name));
  return {graph.map(path.front()).from, graph.map(path.back()).to};
}

const RowMap& grouping_map(const InferContext& in) {
  const MapPath path = in.as<op::Segments>().to;
  path_ends(in, path);
  const RowMap& map = in.graph().map(path.front());
  const DomainKind kind = in.graph().domain(map.from).kind;
  if (path.size() != 1 || (map.kind != MapKind::left &&
                           !(map.kind == MapKind::structural && kind == DomainKind::source)))
    in.fail(
        "rows are gathered along one map, from pairs to their left member or from source "
        "tokens to sentences");
  return map;
}

}  // namespace fuselage
