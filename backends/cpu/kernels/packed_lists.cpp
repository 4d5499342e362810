#include "backends/cpu/kernels/packed_lists.h"

#include <algorithm>
#include <utility>

#include "base/files/mapped_memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cpu {

void PackedLists::clear() {
  for (List& list : lists_) forget(list);
}

void PackedLists::forget(List& list) {
  if (list.is_packed) free_.give(list.offset, list.matrix.size_bytes());
  list.is_packed = false;
}

void PackedLists::add(const MatrixColumns& matrix, const float* bias,
                      std::span<const Words> lists) {
  try {
    if (!bytes_) bytes_ = allocate_pages(max_bytes());
  } catch (const Error&) {
    return;
  }
  if (!place(matrix, lists)) {
    for (const Words& words : lists) forget(lists_[words.sentence]);
    return;
  }
  for (const Words& words : lists) copy(matrix, bias, words);
}

/// Finds room for all of the lists; false: there is none.
bool PackedLists::place(const MatrixColumns& matrix, std::span<const Words> lists) {
  for (const Words& words : lists) {
    if (words.sentence >= lists_.size()) lists_.resize(words.sentence + 1);
    forget(lists_[words.sentence]);
  }
  bool fits = true;
  for (const Words& words : lists) {
    List& list = lists_[words.sentence];
    list.matrix = PackedMatrix(matrix.dtype, matrix.k, words.columns.size());
    const auto offset = free_.take(list.matrix.size_bytes());
    list.is_packed = offset.has_value();
    list.offset = offset.value_or(0);
    fits = fits && list.is_packed;
  }
  return fits;
}

void PackedLists::copy(const MatrixColumns& matrix, const float* bias, const Words& words) {
  List& list = lists_[words.sentence];
  list.matrix = PackedMatrix::pack_quantized(
      matrix.dtype, {matrix.data, matrix.stride, words.columns.data()}, matrix.k,
      words.columns.size(), PackedMatrix::Bytes(bytes_, bytes_.get() + list.offset));
  list.biases.clear();
  if (bias)
    for (const std::int32_t column : words.columns)
      list.biases.push_back(bias[static_cast<std::size_t>(column)]);
}

PackedList PackedLists::of(std::size_t sentence) const {
  if (sentence >= lists_.size() || !lists_[sentence].is_packed) return {};
  const List& list = lists_[sentence];
  return {&list.matrix, list.biases.empty() ? nullptr : list.biases.data()};
}

}  // namespace fuselage::cpu
