#include "base/files/compression.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {

std::string_view without_compression(std::string_view path) {
  for (const std::string_view suffix : {".gz", ".zst"})
    if (path.ends_with(suffix)) path.remove_suffix(suffix.size());
  return path;
}

std::string with_compression(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  for (const char* suffix : {".gz", ".zst"})
    if (std::filesystem::exists(path + suffix, error)) return path + suffix;
  return path;
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
  return expand_text(read_file(path, max_bytes), path, max_bytes);
}

std::string expand_text(std::string bytes, const std::string& path, std::size_t max_bytes) {
  const std::unique_ptr<Expander> expander = make_expander(path);
  if (!expander) return bytes;
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text, piece(kPiece, '\0');
  std::string_view rest = bytes;
  try {
    while (true) {
      const std::size_t size = expander->expand(rest, piece);
      if (size == 0 && rest.empty()) break;
      text.append(piece, 0, size);
      if (text.size() > max_bytes)
        throw Error(fmt::format("it expands to more than {} bytes", max_bytes));
    }
    if (!expander->may_end()) throw Error("it is cut off");
  } catch (const Error& error) {
    throw Error(fmt::format("cannot read {}: {} ({})", path, error.what(), expander->format()));
  }
  return text;
}

}  // namespace fuselage
