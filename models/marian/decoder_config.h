#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/number_range.h"
#include "fuselage/base/shortlist_options.h"
#include "fuselage/models/decode_defaults.h"
#include "fuselage/models/load_model.h"

namespace fuselage {

/// The allowed weights of an ensemble's members.
inline constexpr NumberRange kMemberWeights{-1000000, 1000000, false};

/// DecoderConfig::format of a configuration of Amun.
inline constexpr std::string_view kAmunFormat = "Amun configuration";

/// A configuration of marian-decoder, such as model.npz.decoder.yml: the entries that concern a
/// model.
struct DecoderConfig {
  std::string format;                     ///< as Model::format
  std::vector<std::string> models;        ///< paths; several: an ensemble
  std::vector<double> weights;            ///< factors of the models' log-probabilities
  std::vector<std::string> vocabularies;  ///< source and target; empty: the models' own
  /// As Model::splitters, of the key bpe, which marian-decoder does not have.
  std::vector<std::string> splitters;
  ShortlistOptions shortlist;
  DecodeDefaults decode;
  /// Stated by gemm-precision.
  std::optional<Calibration> calibration = {};
  std::vector<std::string> notes;  ///< entries that are ignored
};

/// Reads a configuration. Entries on texts, threads, devices and output, which a caller decides,
/// are ignored; a note tells about an ignored entry that would change the output. Entries at
/// marian-decoder's defaults need no support. Throws Error with the path, the key and both values
/// for unknown and unsupported keys (unless `ignore_unknown`), for invalid values, and for a YAML
/// file without models.
DecoderConfig read_decoder_config(const std::string& path, bool ignore_unknown);

/// The same for the text of the file `path`.
DecoderConfig parse_decoder_config(std::string_view text, const std::string& path,
                                   bool ignore_unknown);

}  // namespace fuselage
