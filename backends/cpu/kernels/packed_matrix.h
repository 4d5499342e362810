#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace fuselage::cpu {

/// An immutable float32 [k, n] right operand of gemm, stored as panels of panel() columns, each
/// panel row-major and the last one padded with zeros. The panel width is that of the level that
/// was active when it was packed, so only that level's gemm takes it.
class PackedMatrix {
 public:
  /// Packs w, which is [k, n] with rows `ld` apart, or [n, k] when `transposed`.
  static PackedMatrix pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                           bool transposed);

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  /// Columns a panel.
  std::size_t panel() const { return panel_; }
  std::size_t panel_count() const { return (n_ + panel_ - 1) / panel_; }
  /// Panel p, [k, panel()], aligned to 64 bytes.
  const float* panel_data(std::size_t p) const { return data_.get() + p * k_ * panel_; }
  std::size_t size_bytes() const { return panel_count() * k_ * panel_ * sizeof(float); }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
  };

  PackedMatrix(std::size_t k, std::size_t n, std::size_t panel);

  std::size_t k_;
  std::size_t n_;
  std::size_t panel_;
  std::unique_ptr<float[], Free> data_;
};

}  // namespace fuselage::cpu
