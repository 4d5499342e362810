#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"

namespace fuselage {

/// The angle of column i of d/2 at position p, of which tables of positions have sines and cosines.
enum class Sinusoids : std::uint8_t {
  paper,    ///< p / 10000^(2i / d) (Vaswani et al. 2017, section 3.5)
  fairseq,  ///< p / 10000^(i / (d/2 - 1)), rounded to float
};

/// A class of models of Hugging Face's Transformers with the equations of BART (Lewis et al. 2020):
/// a transformer whose norms and positions differ.
struct BartClass {
  std::string name;                 ///< "MarianMTModel"
  std::string summary;              ///< one line for the documentation
  bool norm_before = false;         ///< layers normalize their inputs, not their results
  bool norm_of_embeddings = false;  ///< embeddings with positions are normalized
  bool norm_at_top = false;         ///< the results of encoder and decoder are normalized
  /// Rows of the tables of positions before that of the first word.
  std::int64_t position_offset = 0;
  /// Of tables of positions that checkpoints do not have; nullopt: they have them.
  std::optional<Sinusoids> sinusoids;
  /// How the alignment is made from the attention of the decoder to the source: all heads of the
  /// last layer but one (Garg et al. 2019), or as Marian, which trains the first head of the last.
  bool aligns_by_first_head = false;
};

/// The classes, for the registry of architectures.
std::span<const BartClass> bart_classes();

/// The class of this name; null if there is none.
const BartClass* find_bart_class(std::string_view name);

/// Adds a model of a class to the builder of `parameters`, under the names of its checkpoints and
/// with the options of its config.json. Two parameters are made from others by the loader:
/// embed_positions.weight where positions are sinusoids, and kDecoderStart.
void build_bart(Parameters& parameters, const ModelOptions& options, const BartClass& kind);

}  // namespace fuselage
