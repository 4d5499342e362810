#include "models/ctranslate2/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "models/ctranslate2/transformer_options.h"
#include "models/formats/quantized_parts.h"

namespace fuselage {
namespace {

bool is_stored_in_integers(const Ctranslate2Variable& variable) {
  return variable.dtype == DType::i8 || variable.dtype == DType::i16;
}

/// The matrix [in, out] of a matrix [out, in], as f32.
Tensor transposed_numbers(const Tensor& stored) {
  const Tensor rows = stored.to_f32();
  const std::int64_t out = rows.shape()[0], in = rows.shape()[1];
  Tensor result(DType::f32, {in, out});
  // By blocks, so that the lines of both stay in the cache.
  constexpr std::int64_t kBlock = 32;
  const float* const from = rows.data<float>();
  float* const to = result.mutable_data<float>();
  for (std::int64_t r = 0; r < out; r += kBlock)
    for (std::int64_t c = 0; c < in; c += kBlock)
      for (std::int64_t i = r; i < std::min(out, r + kBlock); ++i)
        for (std::int64_t j = c; j < std::min(in, c + kBlock); ++j)
          to[j * out + i] = from[i * in + j];
  return result;
}

class WeightReader {
 public:
  WeightReader(const Ctranslate2File& file, const std::string& where) : file_(file), where_(where) {
    for (const std::string& name :
         {ctranslate2_source_table(file), std::string(kCtranslate2TargetTable),
          std::string(kCtranslate2OutputTable)})
      tables_.push_back(file.stored_name(name));
  }

  Ctranslate2Weights read() {
    for (const auto& [name, variable] : file_.variables)
      if (!is_ctranslate2_attribute(name, variable) && is_read(name)) add(name, variable);
    for (const auto& [alias, name] : file_.aliases) {
      const auto found = result_.tensors.find(name);
      // Tables are shared by their names, other weights by their numbers.
      if (found != result_.tensors.end() && !is_table(name) && is_read(alias))
        result_.tensors.emplace(alias, found->second);
    }
    return std::move(result_);
  }

 private:
  bool is_table(const std::string& name) const {
    return std::find(tables_.begin(), tables_.end(), name) != tables_.end();
  }

  static bool is_read(const std::string& name) {
    if (name.ends_with("/weight_scale")) return false;
    // All layers use the biases of the first one.
    return !name.ends_with("/relative_attention_bias") || name.find("/layer_0/") != name.npos;
  }

  std::string place_of(const std::string& name) const {
    return fmt::format("{}: variable {}", where_, in_quotes(name));
  }

  void add(const std::string& name, const Ctranslate2Variable& variable) {
    const bool is_matrix =
        name.ends_with("/weight") && !is_table(name) && variable.shape.size() == 2;
    const DType dtype = variable.dtype;
    if (dtype == DType::i32)
      throw Error(fmt::format("{}: weights are floats, or integers of 8 or 16 bits, not i32",
                              place_of(name)));
    Tensor tensor = is_stored_in_integers(variable) ? integers(name, variable) : variable.tensor();
    if (name.ends_with("/weight")) note_precision(dtype);
    if (is_matrix && !is_quantized(tensor.dtype())) tensor = transposed_numbers(tensor);
    result_.tensors.emplace(name, std::move(tensor));
  }

  void note_precision(DType dtype) {
    std::optional<Precision>& precision = result_.precision;
    if (dtype == DType::i8)
      precision = Precision::int8;
    else if (precision == Precision::int8)
      return;
    else if (dtype == DType::i16)
      precision = Precision::int16;
    else if (dtype == DType::bf16 && precision != Precision::int16)
      precision = Precision::bf16;
  }

  /// A quantized vector for each row. CTranslate2 divides integers by their scale.
  Tensor integers(const std::string& name, const Ctranslate2Variable& variable) const {
    const std::string place = place_of(name);
    const Ctranslate2Variable* const stored = file_.find(name + "_scale");
    if (stored == nullptr || !name.ends_with("/weight"))
      throw Error(fmt::format("{}: its integers have no scale (a variable {})", place,
                              in_quotes(name + "_scale")));
    if (variable.shape.size() != 2)
      throw Error(fmt::format("{}: integers of shape {} are no matrix", place,
                              shape_to_string(variable.shape)));
    const Tensor divisors = stored->tensor().to_f32();
    const std::int64_t rows = variable.shape[0];
    if (divisors.size() != 1 && divisors.size() != rows)
      throw Error(fmt::format("{}: it has {} scales for {} rows, one or one for each is needed",
                              place, divisors.size(), rows));
    Tensor scales(DType::f32, {rows});
    for (std::int64_t i = 0; i < rows; ++i) {
      const float divisor = divisors.data<float>()[divisors.size() == 1 ? 0 : i];
      const float scale = 1 / divisor;
      if (!(divisor > 0) || !std::isnormal(divisor) || !std::isnormal(scale))
        throw Error(fmt::format("{}: the scale of row {} is {}, which cannot be divided by", place,
                                i, divisor));
      scales.mutable_data<float>()[i] = scale;
    }
    Tensor result = join_quantized({variable.tensor(), std::move(scales)}, place);
    return has_large_sums(variable) ? result.to_f32() : result;
  }

  /// Whether a product with a row may not fit 32 bits.
  static bool has_large_sums(const Ctranslate2Variable& variable) {
    if (variable.dtype != DType::i16) return false;
    const Tensor tensor = variable.tensor();
    const std::int64_t width = variable.shape[1];
    for (std::int64_t begin = 0; begin < tensor.size(); begin += width) {
      std::int64_t sum = 0;
      for (std::int64_t i = begin; i < begin + width; ++i)
        sum += std::abs(std::int64_t{tensor.data<std::int16_t>()[i]});
      if (sum > kLargestSumOfInt16Columns) return true;
    }
    return false;
  }

  const Ctranslate2File& file_;
  const std::string& where_;
  std::vector<std::string> tables_;  ///< the names under which they are stored
  Ctranslate2Weights result_;
};

}  // namespace

Ctranslate2Weights ctranslate2_weights(const Ctranslate2File& file, const std::string& where) {
  return WeightReader(file, where).read();
}

}  // namespace fuselage
