// Conversions: quantized vectors and 16-bit floats.

#include <algorithm>
#include <cstring>

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

/// quantize: base of the kernels below.
class Quantize : public Kernel {
 public:
  Quantize(const PlannedInstruction&, const Binding& binding)
      : vectors_(vectors_in(binding.graph.value(binding.node.results[0]).type)),
        quantizer_(quantizer_of(binding.node)) {}

 protected:
  std::size_t vectors() const { return vectors_; }

  /// The node's quantizer, with the scale of operand 1 if there is one.
  Quantizer quantizer(const PlannedInstruction& in, const Run& run) const {
    Quantizer quantizer = quantizer_;
    if (in.operands.size() > 1) quantizer.scale = *plain_in<const float>(in, run, 1);
    return quantizer;
  }

 private:
  std::size_t vectors_;
  Quantizer quantizer_;
};

/// Vectorized; without bounds on sums or fitted scales.
class QuantizeRows final : public Quantize {
 public:
  using Quantize::Quantize;
  void run(const PlannedInstruction& in, const Run& run) const override {
    const Quantizer by = quantizer(in, run);
    for_vectors(in, run, vectors(), [&](const Vectors& all) {
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
    for_vectors(in, run, vectors(), [&](const Vectors& all) {
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

/// cast: converts all elements between f32 and bf16 or f16, or from i32 to f32.
class Cast final : public Kernel {
 public:
  Cast(const PlannedInstruction&, const Binding& binding)
      : Cast(binding.graph.value(binding.node.operands[0]).type, binding.node.as<op::Cast>().to) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const std::size_t size = rows_of(in, run) * row_size_;
    const auto* floats = plain_in<const float>(in, run, 0);
    const auto* halves = plain_in<const std::uint16_t>(in, run, 0);
    if (from_ == to_)
      std::memcpy(result_at<std::byte>(in, run), floats, size * size_of(to_));
    else if (from_ == DType::i32)
      std::copy_n(plain_in<const std::int32_t>(in, run, 0), size, result_at(in, run));
    else if (is_half(to_))
      std::transform(floats, floats + size, result_at<std::uint16_t>(in, run),
                     to_ == DType::bf16 ? float_to_bfloat16 : float_to_half);
    else
      std::transform(halves, halves + size, result_at(in, run),
                     from_ == DType::bf16 ? bfloat16_to_float : half_to_float);
  }

 private:
  Cast(const Type& x, DType to)
      : from_(x.dtype), to_(to), row_size_(static_cast<std::size_t>(row_size(x))) {}

  DType from_, to_;
  std::size_t row_size_;
};

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
      {{.op = op::Cast::kName, .name = "cast"}, make_kernel<Cast>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
