#include "backends/cpu/kernels/packed_lists.h"

#include <new>

#include "base/mapped_memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cpu {

std::size_t PackedLists::make_matrices(const MatrixColumns& matrix, const Segments& lists) {
  std::size_t size = 0;
  lists_.clear();
  for (std::size_t i = 0; i < lists.count; ++i) {
    const auto first = static_cast<std::size_t>(lists.begin[i]);
    const auto columns = static_cast<std::size_t>(lists.begin[i + 1]) - first;
    lists_.push_back({PackedMatrix(matrix.dtype, matrix.k, columns), first});
    size += lists_.back().matrix.size_bytes();
  }
  return size;
}

void PackedLists::pack(const MatrixColumns& matrix, const float* bias, const Segments& lists,
                       std::span<const std::int32_t> columns) {
  const std::size_t size = make_matrices(matrix, lists);
  if (size > kMaxBytes) {
    lists_.clear();
    return;
  }
  try {
    if (size > size_) {
      size_ = 0;
      bytes_ = allocate_pages(size);
      size_ = size;
    }
    copy(matrix, bias, columns);
  } catch (const std::bad_alloc&) {
    lists_.clear();
  } catch (const Error&) {
    lists_.clear();
  }
}

void PackedLists::copy(const MatrixColumns& matrix, const float* bias,
                       std::span<const std::int32_t> columns) {
  biases_.resize(bias ? columns.size() : 0);
  for (std::size_t i = 0; i < biases_.size(); ++i)
    biases_[i] = bias[static_cast<std::size_t>(columns[i])];
  std::size_t at = 0;
  for (List& list : lists_) {
    const PackedMatrix::Bytes to(bytes_, bytes_.get() + at);
    list.matrix = PackedMatrix::pack_quantized(
        matrix.dtype, {matrix.data, matrix.stride, columns.data() + list.first}, matrix.k,
        list.matrix.n(), to);
    at += list.matrix.size_bytes();
  }
}

PackedList PackedLists::of(std::size_t sentence) const {
  if (lists_.empty()) return {};
  const List& list = lists_[sentence];
  return {&list.matrix, biases_.empty() ? nullptr : biases_.data() + list.first};
}

}  // namespace fuselage::cpu
