#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// Expands compressed bytes that come in pieces: gzip's members or zstd's frames, one or several
/// behind one another.
class Expander {
 public:
  virtual ~Expander() = default;

  /// Takes bytes off the front of `input` and writes up to as many as `output` holds. Returns how
  /// many it has written; when these are none and `input` is empty, it needs more input. Throws
  /// Error, which says what is wrong, when the bytes are damaged and all that comes before has been
  /// written.
  virtual std::size_t expand(std::string_view& input, std::span<char> output) = 0;

  /// True behind a member or frame, where the input may end.
  virtual bool may_end() const = 0;

  /// Name of the format.
  virtual std::string_view format() const = 0;
};

/// Compresses bytes that come in pieces.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// What is done with bytes that wait in the compressor to be compressed together.
  enum class Rest {
    keep,   ///< they wait on
    flush,  ///< they are written, so that all bytes up to now can be expanded
    end     ///< they are written, and the end with its checksum
  };

  /// Appends what becomes of `text` to `output`.
  virtual void compress(std::string_view text, Rest rest, std::string& output) = 0;
};

/// For a name that ends in .gz (RFC 1952) or .zst (RFC 8878); null for other names.
std::unique_ptr<Expander> make_expander(std::string_view path);
std::unique_ptr<Compressor> make_compressor(std::string_view path);

/// `bytes`, the content of a file, expanded where its name ends in .gz or .zst. Throws Error for
/// bytes that are damaged or cut off, and for a text of more than `max_bytes` bytes.
std::string expand_text(std::string bytes, const std::string& path, std::size_t max_bytes);

/// The whole content of a file, expanded where its name ends in .gz or .zst. Throws Error as
/// read_file() and expand_text() do.
std::string read_text(const std::string& path, std::size_t max_bytes);

/// `path` without .gz or .zst at its end.
std::string_view without_compression(std::string_view path);

}  // namespace fuselage
