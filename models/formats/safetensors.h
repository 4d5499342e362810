#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/mapped_memory.h"
#include "base/tensor.h"

namespace fuselage {

/// The content of a .safetensors file.
struct SafetensorsFile {
  TensorMap tensors;
  /// The header's __metadata__; empty when there is none.
  std::map<std::string, std::string> metadata;
};

/// Maps a file whose every byte the header accounts for. Throws Error with the path, and the
/// tensor where one is at fault, when the file cannot be read, is truncated, or breaks the format:
/// a header that is no JSON object, a name used twice, an unknown dtype, a shape that disagrees
/// with its bytes, overlapping tensors or bytes of none. Tensors that lie at multiples of 64 bytes
/// stay there, and are read when they are looked at.
SafetensorsFile read_safetensors(const std::string& path);

/// The same of a file that is mapped already.
SafetensorsFile read_safetensors(const MappedFile& file, const std::string& path);

/// The same for a file in memory; `name_for_errors` stands for its path.
SafetensorsFile read_safetensors(std::string_view bytes, const std::string& name_for_errors);

/// Writes atomically. The same tensors and metadata give the same bytes; the data begins at a
/// multiple of 64 bytes and each tensor at least at a multiple of its element size. Throws Error
/// when the file cannot be written or a name is not UTF-8.
void write_safetensors(const std::string& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace fuselage
