#include "tools/commands/models/quantize_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace fuselage {
namespace {

double megabytes(std::size_t bytes) { return static_cast<double>(bytes) / 1e6; }

double times_smaller(const StoredWeights& weights) {
  return static_cast<double>(weights.bytes_before) /
         static_cast<double>(std::max<std::size_t>(weights.bytes_after, 1));
}

/// The types other than f32 in which matrices were stored before.
std::string stored_types(const std::vector<StoredMatrix>& matrices) {
  std::set<std::string_view> types;
  for (const StoredMatrix& matrix : matrices)
    if (matrix.from != DType::f32) types.insert(to_string(matrix.from));
  return fmt::format("{}", fmt::join(types, " and "));
}

}  // namespace

std::string print_matrices(const StoredWeights& weights,
                           const std::function<std::string(const std::string& name)>& precision_of,
                           const std::vector<std::string>& others) {
  std::size_t width = std::string_view("matrix").size();
  for (const StoredMatrix& matrix : weights.matrices) width = std::max(width, matrix.name.size());
  std::string text = fmt::format("{:{}}  {:>15}  {:>9}  {:>4}  {:>9}  {:>13}", "matrix", width,
                                 "shape", "precision", "bits", "bytes", "squared error");
  for (const std::string& other : others) text += fmt::format("  {:>9}", other);
  text += fmt::format("  {:>15}\n", "outside [-1, 1]");
  for (const StoredMatrix& matrix : weights.matrices) {
    text += fmt::format("{:{}}  {:>15}  {:>9}  {:>4}  {:>9}  {:>13.3g}", matrix.name, width,
                        shape_to_string(matrix.shape), precision_of(matrix.name), matrix.bits,
                        matrix.bytes, matrix.squared_error);
    for (std::size_t i = 0; i < others.size(); ++i)
      text += i < matrix.alternatives.size() ? fmt::format("  {:>9.3g}", matrix.alternatives[i])
                                             : fmt::format("  {:>9}", "");
    text += fmt::format("  {:>15}\n", matrix.beyond_clipping);
  }
  return text + fmt::format("{} bytes of weights are {} in f32: {:.2f} times smaller\n",
                            weights.bytes_after, weights.bytes_before, times_smaller(weights));
}

std::string print_ranges(const std::vector<ProductRange>& ranges) {
  std::size_t product = std::string_view("product").size();
  std::size_t rows = std::string_view("of rows").size();
  for (const ProductRange& range : ranges) {
    product = std::max(product, range.product.size());
    rows = std::max(rows, range.rows.size());
  }
  std::string text = fmt::format("{:{}}  {:{}}  {:>9}  {:>9}  outside [0, {}]\n", "product",
                                 product, "of rows", rows, "least", "most", kLargestActivation);
  for (const ProductRange& range : ranges)
    text += fmt::format("{:{}}  {:{}}  {:>9.3g}  {:>9.3g}  {:>14.1f}%\n", range.product, product,
                        range.rows, rows, range.least, range.most,
                        100 * static_cast<double>(range.outside) /
                            static_cast<double>(std::max<std::int64_t>(range.numbers, 1)));
  return text;
}

std::string summarize(const StoredWeights& weights, std::string_view precisions) {
  const auto& matrices = weights.matrices;
  if (matrices.empty() && weights.kept > 0)
    return fmt::format("all {} matrices are stored for {} already, and no number changes",
                       weights.kept, precisions);
  double error = 0;
  for (const StoredMatrix& matrix : matrices) error = std::max(error, matrix.largest_error);
  std::string text = fmt::format(
      "{} matri{} stored for {}: {:.1f} MB of weights became {:.1f} MB; no number moved by "
      "more than {:.2g} of the largest of its matrix",
      matrices.size(), matrices.size() == 1 ? "x is" : "ces are", precisions,
      megabytes(weights.bytes_before), megabytes(weights.bytes_after), error);
  const auto stored_before =
      std::count_if(matrices.begin(), matrices.end(),
                    [](const StoredMatrix& matrix) { return matrix.from != DType::f32; });
  if (stored_before > 0)
    text += fmt::format(
        "; {} of them were stored as {} before: these errors come on top of those of that storage",
        stored_before, stored_types(matrices));
  if (weights.kept > 0)
    text += fmt::format("; {} more are stored for {} already and stay as they are", weights.kept,
                        precisions);
  return text;
}

}  // namespace fuselage
