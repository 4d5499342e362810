#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/models/architectures/parameters.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// A type of Marian's encoder-decoders: which encoder reads each source text, and which decoder
/// attends to them. A language model is a decoder alone.
struct MarianType {
  enum class Part { recurrent, transformer };

  std::string name;
  std::string summary;
  Part encoder = Part::recurrent;
  Part decoder = Part::recurrent;
  /// Prefix of the parameters of each source text's encoder.
  std::vector<std::string> encoders = {"encoder"};
};

const std::vector<MarianType>& marian_types();

/// Why a type that Marian has is not in marian_types(); empty for a name that is no type.
std::string_view why_not_supported(std::string_view type);

/// Adds a model of options.type to the builder of `parameters`, under Marian's parameter names.
/// Outputs "logits" and, if it has attention, "alignment". Throws Error for unsupported options.
void build_encoder_decoder(Parameters& parameters, const MarianOptions& options);

}  // namespace fuselage
