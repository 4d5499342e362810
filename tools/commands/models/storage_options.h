#pragma once

#include <string>
#include <vector>

#include "fuselage/base/precision.h"
#include "models/quantized/quantize_model.h"
#include "tools/options/options.h"

namespace fuselage {

/// The precision that a matrix is stored for. Products run in int4 with 1 to 3 bits too, and in
/// int8 with linear numbers of fewer bits.
struct StoredPrecision {
  std::string name = "int8";  ///< "int8", "int3"
  Precision precision = Precision::int8;
  bool linear = false;  ///< integers of fewer than 8 bits
  int bits = 4;         ///< of a number, if logarithmic or linear

  bool logarithmic() const {
    return precision == Precision::int4 || precision == Precision::int4_log;
  }
  /// Whether a number has `bits`.
  bool short_numbers() const { return linear || logarithmic(); }
};

/// Options of the storage of matrices.
class StorageOptions {
 public:
  void add_to(CLI::App& app);

  /// Reads the patterns. Throws Error for a wrong one, and for options that do not apply to any of
  /// the precisions.
  void verify(Options& options);

  /// Throws Error for a pattern that takes no matrix of the model.
  void expect_used(const Model& model) const;

  /// The precision in which the model runs unless its user asks for another.
  Precision run_precision() const;

  /// The names of the precisions that matrices are stored for: "int8", "int8 and int4".
  std::string precisions() const;

  /// Ways of finding the scales of 4 bits and fewer, if any matrix has them.
  std::vector<std::string> fits() const;

  const StoredPrecision& precision_of(const std::string& name) const;

  /// The storage of a matrix, with all ways of finding its scales as alternatives if requested.
  MatrixStorage storage_of(const std::string& name, bool alternatives) const;

 private:
  /// The precision of matrices whose names match a pattern.
  struct Choice {
    std::string pattern;
    StoredPrecision precision;
  };

  std::vector<StoredPrecision> all_precisions() const;
  void read_patterns();
  void expect_options_of_short_numbers(Options& options) const;
  Quantizer logarithmic_quantizer(const StoredPrecision& stored, std::string_view fit) const;
  MatrixStorage linear_storage(const StoredPrecision& stored) const;

  StoredPrecision precision_;
  std::string patterns_;
  std::vector<Choice> choices_;
  std::string fit_ = "fitted";
  std::string scales_ = "column";
  float fixed_scale_ = 1;  ///< the maximum level
  int bits_ = 4;
};

}  // namespace fuselage
