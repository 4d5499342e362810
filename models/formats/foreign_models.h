#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage {

/// The first bytes of a file that tell its format.
inline constexpr std::size_t kForeignHeadBytes = std::size_t{256} << 10;

/// Throws Error that names the system whose model a file is, and the way to use the model if there
/// is one; returns if the format is none of the table. `head` are the file's first bytes, up to
/// kForeignHeadBytes, and `path` is its path, which is not read.
void refuse_foreign_model(std::string_view head, const std::string& path);

/// The same for a file. Leaves it to others to report that the file cannot be read.
void refuse_foreign_file(const std::string& path);

/// The same for a directory: one with a config.json of another system, a TensorFlow SavedModel, or
/// one whose only models are those of other systems.
void refuse_foreign_directory(const std::string& path);

/// Whether a file is the model.bin of a CTranslate2 directory, by its first bytes.
bool is_ctranslate2_file(const std::string& path);

}  // namespace fuselage
