#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>

#include "base/files/compression.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

// zlib

/// The largest window, and the format of gzip.
constexpr int kGzipFormat = MAX_WBITS + 16;

uInt size_of_piece(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* bytes(const char* text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

class GzipExpander : public Expander {
 public:
  GzipExpander() {
    if (::inflateInit2(&stream_, kGzipFormat) != Z_OK) throw std::bad_alloc();
  }
  ~GzipExpander() override { ::inflateEnd(&stream_); }
  GzipExpander(const GzipExpander&) = delete;
  GzipExpander& operator=(const GzipExpander&) = delete;

  std::size_t expand(std::string_view& input, std::span<char> output) override {
    if (damage_) throw Error(fmt::format("{}", *damage_));
    const uInt given = size_of_piece(input.size()), room = size_of_piece(output.size());
    stream_.next_in = bytes(input.data());
    stream_.avail_in = given;
    stream_.next_out = bytes(output.data());
    stream_.avail_out = room;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    const std::size_t taken = given - stream_.avail_in, written = room - stream_.avail_out;
    input.remove_prefix(taken);
    if (taken > 0 || written > 0) may_end_ = result == Z_STREAM_END;
    if (result == Z_STREAM_END) ::inflateReset(&stream_);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      damage_ = stream_.msg != nullptr ? stream_.msg : "it needs a dictionary";
    if (damage_ && written == 0) throw Error(fmt::format("{}", *damage_));
    return written;
  }

  bool may_end() const override { return may_end_; }
  std::string_view format() const override { return "gzip"; }

 private:
  z_stream stream_{};
  bool may_end_ = false;
  std::optional<std::string> damage_;
};

class GzipCompressor : public Compressor {
 public:
  GzipCompressor() {
    constexpr int kMemoryLevel = 8;  // zlib's default
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipFormat, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipCompressor() override { ::deflateEnd(&stream_); }
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  void compress(std::string_view text, Rest rest, std::string& output) override {
    do {
      const uInt given = size_of_piece(text.size());
      const bool last = given == text.size();
      stream_.next_in = bytes(text.data());
      stream_.avail_in = given;
      write(last ? rest : Rest::keep, output);
      text.remove_prefix(given);
    } while (!text.empty());
  }

 private:
  void write(Rest rest, std::string& output) {
    const int flush = rest == Rest::keep    ? Z_NO_FLUSH
                      : rest == Rest::flush ? Z_SYNC_FLUSH
                                            : Z_FINISH;
    do {
      stream_.next_out = bytes(piece_.data());
      stream_.avail_out = static_cast<uInt>(piece_.size());
      check(::deflate(&stream_, flush) != Z_STREAM_ERROR, "zlib compresses what it is given");
      output.append(piece_.data(), piece_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::array<char, kPiece> piece_;
};

// zstd

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  void operator()(ZSTD_CStream* stream) const { ::ZSTD_freeCStream(stream); }
};

class ZstdExpander : public Expander {
 public:
  ZstdExpander() : stream_(::ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
    wanted_ = ::ZSTD_initDStream(stream_.get());
  }

  std::size_t expand(std::string_view& input, std::span<char> output) override {
    // zstd does not report the bytes it wrote before an error. So it gets no input while it may
    // have more output of a block, and then none beyond the end of the next block.
    if (has_more_) {
      std::string_view nothing;
      if (const std::size_t written = advance(nothing, output)) return written;
    }
    return advance(input, output);
  }

  bool may_end() const override { return may_end_; }
  std::string_view format() const override { return "zstd"; }

 private:
  std::size_t advance(std::string_view& input, std::span<char> output) {
    ZSTD_inBuffer in{input.data(), std::min(input.size(), wanted_), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_.get(), &out, &in);
    if (::ZSTD_isError(result) != 0) throw Error(fmt::format("{}", ::ZSTD_getErrorName(result)));
    input.remove_prefix(in.pos);
    if (in.pos > 0 || out.pos > 0) may_end_ = result == 0;
    has_more_ = out.pos == out.size;
    // zstd's size of a block includes the header of the next block.
    wanted_ = result > kBlockHeader ? result - kBlockHeader : std::max<std::size_t>(1, result);
    return out.pos;
  }

  static constexpr std::size_t kBlockHeader = 3;  // RFC 8878, 3.1.1.2

  std::unique_ptr<ZSTD_DStream, FreeZstd> stream_;
  std::size_t wanted_;  ///< bytes to the end of the block, or fewer
  bool has_more_ = false;
  bool may_end_ = false;
};

class ZstdCompressor : public Compressor {
 public:
  ZstdCompressor() : stream_(::ZSTD_createCStream()) {
    if (!stream_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }

  void compress(std::string_view text, Rest rest, std::string& output) override {
    const ZSTD_EndDirective directive = rest == Rest::keep    ? ZSTD_e_continue
                                        : rest == Rest::flush ? ZSTD_e_flush
                                                              : ZSTD_e_end;
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      left = ::ZSTD_compressStream2(stream_.get(), &out, &in, directive);
      check(::ZSTD_isError(left) == 0, "zstd compresses what it is given");
      output.append(piece_.data(), out.pos);
    } while (in.pos < in.size || (rest != Rest::keep && left > 0));
  }

 private:
  std::unique_ptr<ZSTD_CStream, FreeZstd> stream_;
  std::array<char, kPiece> piece_;
};

}  // namespace

std::unique_ptr<Expander> make_expander(std::string_view path) {
  if (path.ends_with(".gz")) return std::make_unique<GzipExpander>();
  if (path.ends_with(".zst")) return std::make_unique<ZstdExpander>();
  return nullptr;
}

std::unique_ptr<Compressor> make_compressor(std::string_view path) {
  if (path.ends_with(".gz")) return std::make_unique<GzipCompressor>();
  if (path.ends_with(".zst")) return std::make_unique<ZstdCompressor>();
  return nullptr;
}

}  // namespace fuselage
