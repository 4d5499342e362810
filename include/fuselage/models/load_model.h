#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// Use of the multipliers of a calibrated model (NAME_QuantMultA in a Marian .bin file), by which
/// the inputs of products are quantized.
enum class Calibration : std::uint8_t {
  as_stored,  ///< used where a file has them
  expected,   ///< the same, with a note on a file that has none
  ignored,    ///< not used: inputs are quantized by their own numbers, if at all
};

/// How to read a model of any format.
struct LoadOptions {
  /// Ignore unknown or unsupported configuration keys instead of throwing Error.
  bool ignore_unknown = false;
  /// Compare the files of a model directory with the digests in its SHA256SUMS. Without that file
  /// nothing is checked, and a note of the model says so.
  bool verify = true;
  /// Unset: as a configuration states by its gemm-precision, else as stored.
  std::optional<Calibration> calibration = {};
  /// Make random weights, by this seed, for the architecture that a configuration names. Set: the
  /// path must be such a configuration, or one of an ensemble of such.
  std::optional<std::uint64_t> random_weights = {};
};

/// Loads the model at `path`: a model directory; a directory of Hugging Face's Transformers or of
/// CTranslate2, or a package of Argos Translate (.argosmodel, or unpacked); a directory of
/// published files, such as those of Firefox or OPUS-MT (docs/model-formats.md); a Marian model
/// (.npz or .bin, which .gz or .zst may follow); or a configuration of marian-decoder (.yml or
/// .yaml), which gives a model, or an ensemble, with its vocabularies, shortlist and settings for
/// decoding; or a configuration that names an architecture, its options and a .safetensors file.
/// Where nothing is at `path`, it may be the name of a bundled model, such as "de-en". Throws Error
/// naming the file and the cause, among them an unsupported format and parameters that are not
/// finite.
Model load_model(const std::string& path, const LoadOptions& options = {});

}  // namespace fuselage
