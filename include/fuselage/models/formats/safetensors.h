#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"

namespace FUSELAGE_API fuselage {

struct MappedFile;  // base/files/mapped_memory.h

/// The content of a .safetensors file.
struct SafetensorsFile {
  TensorMap tensors;
  /// The header's __metadata__; empty if there is none.
  std::map<std::string, std::string> metadata;
};

/// The tensors of a .safetensors file, by name; see read_safetensors_file.
TensorMap read_safetensors(const std::string& path);

/// Maps a file. Throws Error with the path, and with the tensor at fault, when the file cannot be
/// read, is truncated, or breaks the format: a header that is not a JSON object, a repeated name,
/// an unknown dtype, a shape that disagrees with its bytes, overlapping tensors, or bytes that
/// belong to no tensor. Tensors at multiples of 64 bytes refer to the mapping and are read when
/// they are accessed; others are copied.
SafetensorsFile read_safetensors_file(const std::string& path);

/// The same for a file that is mapped already.
SafetensorsFile read_safetensors_file(const MappedFile& file, const std::string& path);

/// The same for a file in memory; `name_for_errors` is used in place of its path.
SafetensorsFile read_safetensors_file(std::string_view bytes, const std::string& name_for_errors);

/// Writes a file atomically. The same tensors and metadata give the same bytes. The data begins at
/// a multiple of 64 bytes and each tensor at least at a multiple of its element size. Throws Error
/// when the file cannot be written or a name is not UTF-8.
void write_safetensors(const std::string& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace fuselage
