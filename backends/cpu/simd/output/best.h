#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fuselage::cpu {

/// The k best values of a row and their columns, sorted by decreasing value, then by column.
/// Columns must be inserted in order. -infinity and NaN are inserted only by append_lowest().
class Best {
 public:
  static constexpr float kLowest = -std::numeric_limits<float>::infinity();

  Best() = default;
  /// Stores them in values [k] and ids [k], k > 0; a free place is -infinity with id -1.
  Best(std::size_t k, float* values, std::int32_t* ids) : k_(k), values_(values), ids_(ids) {
    std::fill_n(values, k, kLowest);
    std::fill_n(ids, k, -1);
  }

  std::size_t k() const { return k_; }
  /// The value that a candidate must exceed.
  float threshold() const { return values_[k_ - 1]; }
  /// The largest value; -infinity if there is none.
  float top() const { return values_[0]; }

  /// Inserts a value above the threshold. Branch-free, since its position cannot be predicted.
  void insert(float value, std::size_t id) {
    for (std::size_t i = k_ - 1; i > 0; --i) {
      const std::int32_t moved =
          values_[i - 1] < value ? ids_[i - 1] : static_cast<std::int32_t>(id);
      ids_[i] = values_[i] < value ? moved : ids_[i];
      values_[i] = std::max(values_[i], std::min(values_[i - 1], value));
    }
    ids_[0] = values_[0] < value ? static_cast<std::int32_t>(id) : ids_[0];
    values_[0] = std::max(values_[0], value);
  }

  /// Inserts the elements of x [count], columns from `column` on, that exceed the threshold.
  void insert_larger(const float* x, std::size_t count, std::size_t column) {
    for (std::size_t i = 0; i < count; ++i)
      if (x[i] > threshold()) insert(x[i], column + i);
  }

  /// A second pass over all columns from the first on: fills free places with the columns of
  /// -infinity and NaN, as -infinity. Returns false when no place is free.
  bool append_lowest(const float* x, std::size_t count, std::size_t column) {
    std::size_t place = static_cast<std::size_t>(std::find(ids_, ids_ + k_, -1) - ids_);
    for (std::size_t i = 0; i < count && place < k_; ++i)
      if (!(x[i] > kLowest)) ids_[place++] = static_cast<std::int32_t>(column + i);
    return place < k_;
  }

 private:
  std::size_t k_ = 0;
  float* values_ = nullptr;
  std::int32_t* ids_ = nullptr;
};

}  // namespace fuselage::cpu
