// Conversions: quantized vectors and 16-bit floats.

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/simd/rows/quantize_each.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/tensor.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage::cpu {
namespace {

/// Vectors one after another.
struct Vectors {
  RowsIn x;
  RowsOut out;
  std::size_t count = 0;
};

/// Calls f once for all rows of an instruction if a row is one vector, else once for each row.
template <typename F>
void for_vectors(const PlannedInstruction& in, const Run& run, std::size_t vectors, const F& f) {
  const RowsIn x = rows_in(in, run, 0);
  const RowsOut out = rows_out(in, run);
  const std::size_t rows = rows_of(in, run);
  if (vectors == 1) return f(Vectors{x, out, rows});
  const std::size_t columns = x.columns / vectors;
  for (std::size_t r = 0; r < rows; ++r)
    f(Vectors{{.data = row_of(x, r, x.columns), .stride = columns, .columns = columns},
              {out.data + r * out.stride, cols_of(in) / vectors},
              vectors});
}

/// bf16 is the upper half of f32: in this form compilers vectorize the conversion.
void widen(DType from, const std::uint16_t* halves, std::size_t count, float* out) {
  const auto from_upper = [](std::uint16_t upper) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
  };
  if (from == DType::bf16)
    std::transform(halves, halves + count, out, from_upper);
  else
    std::transform(halves, halves + count, out, half_to_float);
}

/// Rows of `size` 16-bit floats. Those of an odd size, which weights may have, are read in order
/// only.
class HalfRows {
 public:
  HalfRows(const PlannedInstruction& in, const Run& run, std::size_t size)
      : x_(rows_in(in, run, 0)), size_(size) {}

  const std::uint16_t* row(std::size_t r) const {
    if (x_.rows) return reinterpret_cast<const std::uint16_t*>(row_of(x_, r, x_.columns));
    return reinterpret_cast<const std::uint16_t*>(x_.data) + r * size_;
  }

 private:
  RowsIn x_;
  std::size_t size_;
};

/// quantize: base of the kernels below.
class Quantize : public Kernel {
 public:
  Quantize(const PlannedInstruction&, const Binding& binding)
      : x_(binding.graph.value(binding.node.operands[0]).type),
        vectors_(vectors_in(binding.graph.value(binding.node.results[0]).type)),
        quantizer_(quantizer_of(binding.node)) {}

 protected:
  /// Calls f for all vectors, or for each vector of weights in 16 bits, with its numbers as floats.
  template <typename F>
  void for_floats(const PlannedInstruction& in, const Run& run, const F& f) const {
    if (!is_half(x_.dtype)) return for_vectors(in, run, vectors_, f);
    const auto size = static_cast<std::size_t>(row_size(x_));
    const std::size_t k = size / vectors_, words = cols_of(in) / vectors_;
    const HalfRows x(in, run, size);
    const RowsOut out = rows_out(in, run);
    std::vector<float> floats(k);
    for (std::size_t r = 0; r < rows_of(in, run); ++r)
      for (std::size_t v = 0; v < vectors_; ++v) {
        widen(x_.dtype, x.row(r) + v * k, k, floats.data());
        f(Vectors{{.data = floats.data(), .stride = k, .columns = k},
                  {out.data + r * out.stride + v * words, words},
                  1});
      }
  }

  /// The node's quantizer, with the scale of operand 1 if there is one.
  Quantizer quantizer(const PlannedInstruction& in, const Run& run) const {
    Quantizer quantizer = quantizer_;
    if (in.operands.size() > 1) quantizer.scale = *plain_in<const float>(in, run, 1);
    return quantizer;
  }

 private:
  Type x_;
  std::size_t vectors_;
  Quantizer quantizer_;
};

/// Vectorized; without bounds on sums or fitted scales.
class QuantizeRows final : public Quantize {
 public:
  using Quantize::Quantize;
  void run(const PlannedInstruction& in, const Run& run) const override {
    const Quantizer by = quantizer(in, run);
    for_floats(in, run, [&](const Vectors& all) {
      run.kernels.quantize_rows(by, all.x, all.count, all.x.columns, all.out);
    });
  }
};

/// Scalar; supports any quantizer.
class QuantizeEach final : public Quantize {
 public:
  using Quantize::Quantize;
  void run(const PlannedInstruction& in, const Run& run) const override {
    const Quantizer by = quantizer(in, run);
    for_floats(in, run, [&](const Vectors& all) {
      quantize_each(by, all.x, all.count, all.x.columns, all.out);
    });
  }
};

class Dequantize final : public Kernel {
 public:
  Dequantize(const PlannedInstruction&, const Binding& binding)
      : Dequantize(binding.graph.value(binding.node.operands[0]).type) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto k = static_cast<std::int64_t>(cols_of(in) / vectors_);
    for_vectors(in, run, vectors_, [&](const Vectors& all) {
      for (std::size_t r = 0; r < all.count; ++r)
        dequantize_vector(dtype_,
                          reinterpret_cast<const std::byte*>(row_of(all.x, r, all.x.columns)), k,
                          all.out.data + r * all.out.stride);
    });
  }

 private:
  explicit Dequantize(const Type& x) : dtype_(x.dtype), vectors_(vectors_in(x)) {}

  DType dtype_;
  std::size_t vectors_;
};

/// cast from 16 bits to f32, of rows at any places.
class WidenRows final : public Kernel {
 public:
  WidenRows(const PlannedInstruction&, const Binding& binding)
      : x_(binding.graph.value(binding.node.operands[0]).type) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto size = static_cast<std::size_t>(row_size(x_));
    const HalfRows x(in, run, size);
    const RowsOut out = rows_out(in, run);
    for (std::size_t r = 0; r < rows_of(in, run); ++r)
      widen(x_.dtype, x.row(r), size, out.data + r * out.stride);
  }

 private:
  Type x_;
};

/// cast to 16 bits, from i32, or to the same type.
class Cast final : public Kernel {
 public:
  Cast(const PlannedInstruction&, const Binding& binding)
      : Cast(binding.graph.value(binding.node.operands[0]).type, binding.node.as<op::Cast>().to) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const std::size_t size = rows_of(in, run) * row_size_;
    const auto* floats = plain_in<const float>(in, run, 0);
    if (from_ == to_)
      std::memcpy(result_at<std::byte>(in, run), floats, size * size_of(to_));
    else if (from_ == DType::i32)
      std::copy_n(plain_in<const std::int32_t>(in, run, 0), size, result_at(in, run));
    else
      std::transform(floats, floats + size, result_at<std::uint16_t>(in, run),
                     to_ == DType::bf16 ? float_to_bfloat16 : float_to_half);
  }

 private:
  Cast(const Type& x, DType to)
      : from_(x.dtype), to_(to), row_size_(static_cast<std::size_t>(row_size(x))) {}

  DType from_, to_;
  std::size_t row_size_;
};

std::string refuse_widening(const Graph& graph, const Node& node) {
  const bool widens = is_half(graph.value(node.operands[0]).type.dtype) &&
                      graph.value(node.results[0]).type.dtype == DType::f32;
  return widens ? "" : "it converts 16-bit floats to f32";
}

std::string refuse_cast(const Graph& graph, const Node& node) {
  return refuse_widening(graph, node).empty() ? "it converts no 16-bit floats to f32" : "";
}

std::string refuse_rounding(const Graph&, const Node& node) {
  return is_half(node.as<op::Quantization>().to) ? "it rounds no rows to 16 bits" : "";
}

std::string refuse_quantize_rows(const Graph& graph, const Node& node) {
  std::string reason = refuse_rounding(graph, node);
  return reason.empty() ? refuse_quantize(graph, node) : reason;
}

}  // namespace

std::span<const KernelEntry> quantize_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::Quantize::kName,
        .name = "quantize_rows",
        .reads = {view},
        .refuse = refuse_quantize_rows},
       make_kernel<QuantizeRows>},
      {{.op = op::Quantize::kName,
        .name = "quantize_each",
        .reads = {view},
        .refuse = refuse_rounding},
       make_kernel<QuantizeEach>},
      {{.op = op::Dequantize::kName, .name = "dequantize_rows", .reads = {view}},
       make_kernel<Dequantize>},
      {{.op = op::Cast::kName, .name = "widen_rows", .reads = {view}, .refuse = refuse_widening},
       make_kernel<WidenRows>},
      {{.op = op::Cast::kName, .name = "cast", .refuse = refuse_cast}, make_kernel<Cast>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
