#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// Decompresses a stream that arrives in pieces: one or more gzip members or zstd frames.
class Expander {
 public:
  virtual ~Expander() = default;

  /// Consumes bytes from the front of `input` and fills `output` as far as it can. Returns the
  /// number of bytes written; 0 with an empty `input` means that more input is needed. For damaged
  /// bytes, first writes everything before the damage, then throws Error with the cause.
  virtual std::size_t expand(std::string_view& input, std::span<char> output) = 0;

  /// Whether the input may end here: at the end of a member or frame.
  virtual bool may_end() const = 0;

  /// Name of the format.
  virtual std::string_view format() const = 0;
};

/// Compresses a stream that arrives in pieces.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// What compress() does with the bytes that the compressor has buffered.
  enum class Rest {
    keep,   ///< keeps them buffered
    flush,  ///< writes them, so that all bytes up to now can be decompressed
    end     ///< writes them and the end of the stream with its checksum
  };

  /// Compresses `text` and appends compressed bytes to `output`.
  virtual void compress(std::string_view text, Rest rest, std::string& output) = 0;
};

/// For a name that ends in .gz (RFC 1952) or .zst (RFC 8878); null for other names.
std::unique_ptr<Expander> make_expander(std::string_view path);
std::unique_ptr<Compressor> make_compressor(std::string_view path);

/// The content `bytes` of the file `path`, decompressed if its name ends in .gz or .zst. Throws
/// Error for damaged or truncated bytes, and if the text has more than `max_bytes` bytes.
std::string expand_text(std::string bytes, const std::string& path, std::size_t max_bytes);

/// The whole content of a file, decompressed if its name ends in .gz or .zst. Throws Error as
/// read_file() and expand_text() do.
std::string read_text(const std::string& path, std::size_t max_bytes);

/// `path` without a final .gz or .zst.
std::string_view without_compression(std::string_view path);

/// The name of the file `path`, which may exist in compressed form only: `path` followed by .gz or
/// .zst if there is such a file but none called `path`.
std::string with_compression(const std::string& path);

}  // namespace fuselage
