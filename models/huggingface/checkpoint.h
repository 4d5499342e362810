#pragma once

#include "fuselage/base/tensor.h"
#include "models/huggingface/config_files.h"

namespace fuselage {

/// The weights of a directory under the names of the checkpoint, each table of embeddings once:
/// model.safetensors, or the files that model.safetensors.index.json lists. Parameters that
/// Transformers computes are among them: positions that are sinusoids, and the embedding of the
/// word that a translation begins with (kDecoderStart). Throws Error for missing files, a PyTorch
/// pickle in their place, and weights that an index lists and its files lack, or the other way
/// round.
TensorMap read_checkpoint(const HuggingFaceConfig& config);

}  // namespace fuselage
