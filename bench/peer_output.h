#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/peer_products.h"
#include "fuselage/base/tensor.h"

namespace fuselage {

/// Finds the k largest elements of each row of x, [rows, n], largest first, by partially sorting
/// column indexes, as CTranslate2 does on a CPU (its src/ops/topk_cpu.cc).
void k_best_by_sorting(const float* x, std::size_t rows, std::size_t n, std::size_t k,
                       float* values, std::int32_t* ids);

/// An output layer of int8 vectors in the steps of other systems, each over all logits: oneDNN's
/// product in 32-bit integers, conversion to floats with the bias added, log-softmax by our kernel,
/// and k_best_by_sorting.
class PeerOutput {
 public:
  /// The left rows and the matrix's columns, both qint8, and a bias with an element per column.
  PeerOutput(const Tensor& rows, const Tensor& columns, std::vector<float> bias);
  /// Whether this build has oneDNN.
  static bool is_available();

  void product() { product_(x_.data(), row_scales_.size(), sums_.data()); }
  void dequantize();
  void log_softmax();
  void k_best(std::size_t k, float* values, std::int32_t* ids) const;

 private:
  std::vector<std::int8_t> x_, w_;  // w_ is [elements, columns]
  std::vector<float> row_scales_, column_scales_, bias_;
  PeerIntProduct product_;
  std::vector<std::int32_t> sums_;
  std::vector<float> logits_;
};

}  // namespace fuselage
