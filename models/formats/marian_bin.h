#pragma once

#include <string>
#include <string_view>

#include "base/tensor.h"

namespace fuselage {

/// The content of a Marian .bin model file.
struct MarianBinFile {
  /// Items by name, without those called "special:…", in the shape that the file states. Only
  /// quantized matrices differ: [K, N] in the file is [N, K] here, a quantized vector for each
  /// column. Quantized tables of embeddings have a vector for each row, and so keep their shape.
  TensorMap tensors;
  /// Text of the item special:model.yml up to its first NUL; empty when there is none.
  std::string config_yaml;
};

/// Reads items of floats, of integers, and of integers quantized for intgemm, packed for a
/// processor or not. Throws Error with the path, and the item where one is at fault, when the file
/// cannot be read, is truncated or damaged, is encrypted, names an item twice, or holds a type that
/// no Tensor has.
MarianBinFile read_marian_bin(const std::string& path);

/// The same for a file in memory; `name_for_errors` stands for its path.
MarianBinFile read_marian_bin(std::string_view bytes, const std::string& name_for_errors);

}  // namespace fuselage
