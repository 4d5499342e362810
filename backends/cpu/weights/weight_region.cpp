#include "backends/cpu/weights/weight_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/files/lazy_pages.h"
#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "graph/weights.h"

namespace fuselage::cpu {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
Tensor transposed(const Tensor& matrix, std::int64_t k, std::int64_t n) {
  Tensor result(matrix.dtype(), {n, k});
  const T* from = matrix.data<T>();
  T* to = result.mutable_data<T>();
  for (std::int64_t c = 0; c < n; ++c)
    for (std::int64_t i = 0; i < k; ++i) *to++ = from[i * n + c];
  return result;
}

}  // namespace

WeightType weight_type(const Graph& graph, ValueId value, std::string name) {
  const Type& type = graph.value(value).type;
  return {.name = std::move(name),
          .dtype = type.dtype,
          .shape = graph.stored_shape(type),
          .where = graph.describe(graph.producer(value))};
}

Tensor checked_weight(const WeightType& wanted, const TensorMap& weights) {
  const Tensor& weight =
      find_weight({.name = wanted.name, .shape = wanted.shape, .where = wanted.where}, weights);
  if (weight.dtype() == wanted.dtype) return weight;
  if (wanted.dtype == DType::f32) return weight.to_f32();
  if (wanted.dtype == DType::bf16) return weight.to_bf16();
  if (wanted.dtype == DType::f16) return weight.to_f16();
  throw Error(fmt::format("{}: weight {} is {}, but the graph declares {}", wanted.where,
                          in_quotes(wanted.name), to_string(weight.dtype()),
                          to_string(wanted.dtype)));
}

// --- Requests ---

std::vector<std::int64_t> WeightRegion::Entry::tensor_shape() const {
  if (form == Form::columns) return {shape.n, shape.k};
  return weight.shape;
}

WeightRegion::Entry& WeightRegion::entry(const WeightType& weight, Form form,
                                         const MatrixShape& shape) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& known) {
    return known.weight.name == weight.name && known.weight.dtype == weight.dtype &&
           known.form == form && known.shape == shape;
  });
  if (found != entries_.end()) return *found;
  return entries_.emplace_back(Entry{.weight = weight,
                                     .form = form,
                                     .shape = shape,
                                     .tensor = std::make_shared<Tensor>(),
                                     .matrix = nullptr});
}

std::shared_ptr<const Tensor> WeightRegion::stored(const WeightType& weight) {
  return entry(weight, Form::stored, {}).tensor;
}

std::shared_ptr<const Tensor> WeightRegion::columns(const WeightType& weight, std::int64_t k,
                                                    std::int64_t n) {
  return entry(weight, Form::columns, {.k = k, .n = n}).tensor;
}

std::shared_ptr<const PackedMatrix> WeightRegion::packed(const WeightType& weight,
                                                         const MatrixShape& shape) {
  Entry& known = entry(weight, Form::packed, shape);
  if (!known.matrix)
    known.matrix = std::make_shared<PackedMatrix>(shape.dtype, static_cast<std::size_t>(shape.k),
                                                  static_cast<std::size_t>(shape.n));
  return known.matrix;
}

// --- Layout and filling ---

std::size_t WeightRegion::Entry::size_bytes() const {
  if (matrix) return matrix->size_bytes();
  return Tensor(weight.dtype, tensor_shape(), nullptr).size_bytes();
}

void WeightRegion::Entry::make(const TensorMap& weights, const Pages& at) {
  const Tensor source = checked_weight(weight, weights);
  if (form == Form::packed) {
    check(source.dtype() == shape.dtype || shape.dtype == DType::f32,
          "a matrix is packed in its own type or in floats");
    const Tensor typed = source.dtype() == shape.dtype ? source : source.to_f32();
    *matrix = pack(typed.bytes(), shape, at);
    return;
  }
  if (form == Form::stored) *tensor = source;
  if (form == Form::columns)
    *tensor = source.dtype() == DType::bf16 ? transposed<std::uint16_t>(source, shape.k, shape.n)
                                            : transposed<float>(source, shape.k, shape.n);
  if (!at) return;
  if (size_bytes() > 0) std::memcpy(at.get(), tensor->bytes(), size_bytes());
  set_bytes(at);
}

void WeightRegion::Entry::set_bytes(const Pages& bytes) {
  if (matrix)
    matrix->set_bytes(bytes);
  else
    *tensor = Tensor(weight.dtype, tensor_shape(), bytes);
}

std::size_t WeightRegion::Entry::block_bytes() const { return stays ? 0 : aligned(size_bytes()); }

std::size_t WeightRegion::size_bytes() const {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.block_bytes();
  return bytes;
}

std::size_t WeightRegion::packed_bytes() const {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_)
    if (entry.matrix) bytes += entry.block_bytes();
  return bytes;
}

void WeightRegion::make_apart(const TensorMap& weights) {
  for (Entry& entry : entries_) entry.make(weights, nullptr);
}

void WeightRegion::make(TensorMap weights, bool may_stay) {
  std::map<std::string, std::size_t> uses;
  for (const Entry& entry : entries_) ++uses[entry.weight.name];
  std::erase_if(weights, [&](const auto& weight) { return !uses.contains(weight.first); });
  for (Entry& entry : entries_) entry.stays = may_stay && can_stay(entry, weights);
  // A block that takes its size at once would be in memory together with all sources.
  const bool together = pages_are_lazy();
  const Pages block = together ? allocate_pages(size_bytes()) : nullptr;
  std::vector<std::pair<Entry*, Pages>> places;
  std::byte* at = block.get();
  for (Entry& entry : entries_) {
    places.emplace_back(&entry, entry.stays || !together ? nullptr : Pages(block, at));
    if (together) at += entry.block_bytes();
  }
  // The largest first: its source and the little that is made then are in memory together.
  std::ranges::stable_sort(places, std::greater(),
                           [](const auto& place) { return place.first->size_bytes(); });
  std::vector<Tensor> mapped;
  for (const auto& [entry, place] : places) {
    // What is read as stored needs no copy there.
    const bool needs_place = !together && entry->form != Form::stored;
    entry->make(weights, needs_place ? allocate_pages(entry->block_bytes()) : place);
    const auto weight = weights.find(entry->weight.name);
    give_back_mapped(weight->second.mapped_bytes());
    if (!weight->second.mapped_bytes().empty()) mapped.push_back(weight->second);
    if (--uses[weight->first] == 0) weights.erase(weight);
  }
  // Reading the page of a vector brought in pages of the matrices beside it again.
  for (const Tensor& weight : mapped) give_back_mapped(weight.mapped_bytes());
  bytes_ = block;
}

bool WeightRegion::can_stay(const Entry& entry, const TensorMap& weights) {
  constexpr std::size_t kLeast = std::size_t{16} << 20;
  const auto found = weights.find(entry.weight.name);
  return entry.form == Form::stored && found != weights.end() &&
         found->second.dtype() == entry.weight.dtype &&
         found->second.mapped_bytes().size() >= kLeast;
}

void WeightRegion::set_bytes(const Pages& bytes) {
  bytes_ = bytes;
  std::byte* at = bytes.get();
  for (Entry& entry : entries_) {
    entry.set_bytes({bytes, at});
    at += entry.block_bytes();
  }
}

void WeightRegion::add_to(ContentHash& hash) const {
  for (const Entry& entry : entries_) {
    hash.add(entry.weight.name);
    hash.add(shape_to_string(entry.tensor_shape()));
    for (const std::uint64_t number :
         {std::uint64_t(entry.form), std::uint64_t(entry.weight.dtype),
          std::uint64_t(entry.shape.k), std::uint64_t(entry.shape.n),
          std::uint64_t(entry.shape.transposed), std::uint64_t(entry.shape.dtype),
          std::uint64_t(entry.size_bytes())})
      hash.add(number);
  }
}

}  // namespace fuselage::cpu
