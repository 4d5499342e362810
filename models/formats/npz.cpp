#include "models/formats/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/compressed_model.h"
#include "models/limits.h"

namespace fuselage {
namespace {

constexpr std::uint64_t kMaxMember = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxNpzHeader = 1 << 20;
constexpr std::size_t kMaxNpzDimensions = 32;
/// Bound of the expansion of a deflate stream; a larger declared size is false.
constexpr std::uint64_t kMaxMemberExpansion = 1040;
constexpr std::string_view kConfigMember = "special:model.yml";

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the Python dictionary literal at the start of an .npy member.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = shape();
        has_shape = true;
      } else {
        throw Error(
            fmt::format("{}: the .npy header has an unknown key {}", where_, in_quotes(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape)
      throw Error(fmt::format("{}: the .npy header lacks the key '{}'", where_,
                              !has_descr   ? "descr"
                              : !has_order ? "fortran_order"
                                           : "shape"));
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    throw Error(fmt::format("{}: the .npy header has no {} at byte {} of {}", where_, wanted, at_,
                            in_quotes(text_)));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_]) ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }

  std::string string() {
    skip_blanks();
    // Python 2 may write a key as u'descr'.
    if (at_ + 1 < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b')) ++at_;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("closing quote");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("True or False");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::int64_t dim = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) fail("dimension of 0 or more");
      at_ += static_cast<std::size_t>(end - begin);
      dims.push_back(dim);
      if (dims.size() > kMaxNpzDimensions)
        throw Error(
            fmt::format("{}: the array has more than {} dimensions", where_, kMaxNpzDimensions));
      accept('L');  // Python 2 writes a long as 3L.
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// The bytes of an array, read front to back.
class ArrayReader {
 public:
  virtual ~ArrayReader() = default;
  virtual void read(void* to, std::uint64_t bytes) = 0;
  /// Expects the end of the array.
  virtual void expect_end() = 0;
};

/// An .npy file in memory.
class MemoryReader : public ArrayReader {
 public:
  explicit MemoryReader(std::string_view bytes) : rest_(bytes) {}

  void read(void* to, std::uint64_t bytes) override {
    check(bytes <= rest_.size(), "a read beyond the end of an array");
    std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }

  void expect_end() override { check(rest_.empty(), "bytes behind an array"); }

 private:
  std::string_view rest_;
};

/// One open member of the archive.
class MemberReader : public ArrayReader {
 public:
  MemberReader(zip_t* archive, zip_uint64_t index, const std::string& where)
      : where_(where), file_(zip_fopen_index(archive, index, 0), zip_fclose) {
    if (!file_)
      throw Error(
          fmt::format("{}: {}; the file is truncated or damaged", where_, zip_strerror(archive)));
  }

  void read(void* to, std::uint64_t bytes) override {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
      const zip_int64_t count = zip_fread(file_.get(), out, std::min(bytes, kReadAtOnce));
      if (count < 0) fail(zip_file_strerror(file_.get()));
      if (count == 0) fail("the data ends early");
      out += count;
      bytes -= static_cast<std::uint64_t>(count);
    }
  }

  /// libzip compares the checksum at the end.
  void expect_end() override {
    char extra = 0;
    const zip_int64_t count = zip_fread(file_.get(), &extra, 1);
    if (count < 0) fail(zip_file_strerror(file_.get()));
    if (count > 0) fail("the data goes on after its declared end");
  }

 private:
  static constexpr std::uint64_t kReadAtOnce = 1 << 20;

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: {}; the file is truncated or damaged", where_, reason));
  }

  const std::string& where_;
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

/// The dtype of an .npy descr such as "<f4"; nullopt for text and Python objects.
std::optional<DType> dtype_of(const std::string& descr, const std::string& where) {
  std::string_view type = descr;
  char order = '=';
  if (!type.empty() && std::strchr("<>|=", type[0])) {
    order = type[0];
    type.remove_prefix(1);
  }
  if (!type.empty() && std::strchr("OSUa", type[0])) return std::nullopt;
  constexpr std::pair<std::string_view, DType> kNumpyTypes[] = {
      {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}, {"i1", DType::i8},
      {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64}, {"u1", DType::u8},
      {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}};
  for (const auto& [name, dtype] : kNumpyTypes) {
    if (type != name) continue;
    if (order == '>' && size_of(dtype) > 1)
      throw Error(fmt::format("{}: the array is big-endian (descr {}); save it little-endian",
                              where, in_quotes(descr)));
    return dtype;
  }
  throw Error(
      fmt::format("{}: array type {} is not supported; use one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8",
                  where, in_quotes(descr)));
}

std::uint64_t little_endian(const unsigned char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

/// Reads the preamble of an .npy member and subtracts its length from `remaining`.
NpyHeader read_header(ArrayReader& member, std::uint64_t& remaining, const std::string& where) {
  unsigned char fixed[12] = {};
  if (remaining < 10)
    throw Error(fmt::format("{}: {} bytes are too few for an .npy array", where, remaining));
  member.read(fixed, 10);
  remaining -= 10;
  if (std::memcmp(fixed, "\x93NUMPY", 6) != 0)
    throw Error(fmt::format("{}: not an .npy array: it does not begin with \\x93NUMPY", where));
  const int version = fixed[6];
  if (version < 1 || version > 3)
    throw Error(fmt::format("{}: .npy version {}.{} is not supported; use 1.0, 2.0 or 3.0", where,
                            version, fixed[7]));
  std::uint64_t length = little_endian(fixed + 8, 2);
  if (version > 1) {
    if (remaining < 2) throw Error(fmt::format("{}: the .npy header is cut short", where));
    member.read(fixed + 10, 2);
    remaining -= 2;
    length = little_endian(fixed + 8, 4);
  }
  if (length > remaining || length > kMaxNpzHeader)
    throw Error(
        fmt::format("{}: the .npy header claims {} bytes but {} follow (at most {} are read)",
                    where, length, remaining, kMaxNpzHeader));
  std::string text(length, '\0');
  member.read(text.data(), length);
  remaining -= length;
  return NpyHeaderParser(text, where).parse();
}

/// Bytes of an array of `header`'s shape.
std::uint64_t payload_size(const NpyHeader& header, DType dtype, const std::string& where) {
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : header.shape) {
    empty = empty || dim == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (factor > kMaxMember / count)
      throw Error(fmt::format("{}: shape {} is larger than the {} bytes that a member may hold",
                              where, shape_to_string(header.shape), kMaxMember));
    count *= factor;
  }
  return empty ? 0 : count * size_of(dtype);
}

/// The row-major form of an array whose first index runs fastest.
Tensor from_fortran_order(const Tensor& source) {
  const auto& shape = source.shape();
  Tensor result(source.dtype(), shape);
  const std::size_t width = size_of(source.dtype());
  std::vector<std::int64_t> strides(shape.size(), 1), index(shape.size(), 0);
  for (std::size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * shape[d - 1];
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < result.size(); ++to) {
    std::memcpy(result.mutable_bytes() + static_cast<std::size_t>(to) * width,
                source.bytes() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

/// Reads a whole array of `remaining` bytes; nullopt for an array without numbers.
std::optional<Tensor> read_array(ArrayReader& member, std::uint64_t remaining,
                                 const std::string& where) {
  const NpyHeader header = read_header(member, remaining, where);
  const std::optional<DType> dtype = dtype_of(header.descr, where);
  if (!dtype) return std::nullopt;
  const std::uint64_t bytes = payload_size(header, *dtype, where);
  if (bytes != remaining)
    throw Error(fmt::format("{}: shape {} of {} needs {} bytes of data but the array has {}", where,
                            shape_to_string(header.shape), to_string(*dtype), bytes, remaining));
  Tensor tensor(*dtype, header.shape);
  member.read(tensor.mutable_bytes(), bytes);
  member.expect_end();
  if (header.fortran_order && header.shape.size() > 1) return from_fortran_order(tensor);
  return tensor;
}

std::string config_text(const Tensor& tensor, const std::string& where) {
  if (size_of(tensor.dtype()) != 1)
    throw Error(fmt::format("{}: the model's options are stored as {}, bytes (i1 or u1) are needed",
                            where, to_string(tensor.dtype())));
  const std::string_view text(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes());
  return std::string(text.substr(0, text.find('\0')));
}

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

Archive open_archive(std::string_view bytes, const std::string& name) {
  if (bytes.empty())
    throw Error(fmt::format("{}: the file is empty; an .npz archive is needed", name));
  if (bytes.substr(0, 2) != "PK")
    throw Error(fmt::format("{}: not an .npz archive: it does not begin with a zip header", name));
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  const std::string reason = archive ? "" : zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!archive) {
    if (source) zip_source_free(source);
    throw Error(fmt::format("{}: the .npz archive is truncated or damaged: {}", name, reason));
  }
  return Archive(archive, zip_discard);
}

/// The directory entry of a member, with its method and sizes checked.
zip_stat_t member_stat(zip_t* archive, zip_uint64_t index, const std::string& name) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0 ||
      (stat.valid & kNeeded) != kNeeded)
    throw Error(fmt::format("{}: the .npz archive is truncated or damaged: {}", name,
                            zip_strerror(archive)));
  const std::string where = fmt::format("{}: member {}", name, in_quotes(stat.name));
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
    throw Error(fmt::format("{}: the member is encrypted; save it without a password", where));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    throw Error(fmt::format("{}: compression method {} is not supported; use stored or deflate",
                            where, stat.comp_method));
  if (stat.size > kMaxMember)
    throw Error(fmt::format("{}: {} bytes are more than the {} that a member may hold", where,
                            stat.size, kMaxMember));
  const std::uint64_t possible =
      stat.comp_method == ZIP_CM_STORE ? stat.comp_size : stat.comp_size * kMaxMemberExpansion;
  if (stat.size > possible)
    throw Error(fmt::format("{}: {} stored bytes cannot hold {}; the file is truncated or damaged",
                            where, stat.comp_size, stat.size));
  return stat;
}

/// The directory entries, checked as a whole before any member is expanded.
std::vector<zip_stat_t> read_directory(zip_t* archive, std::size_t archive_bytes,
                                       const std::string& name) {
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  if (count > kMaxTensors)
    throw Error(fmt::format("{}: the .npz archive has {} members, at most {} are read", name, count,
                            kMaxTensors));
  const std::uint64_t allowed = archive_bytes * kMaxModelExpansion + kAlwaysExpanded;
  std::vector<zip_stat_t> members;
  std::uint64_t compressed = 0, expanded = 0;
  for (zip_uint64_t i = 0; i < count; ++i) {
    members.push_back(member_stat(archive, i, name));
    // With overlapping members a small file could fill the memory.
    if (members.back().comp_size > archive_bytes - compressed)
      throw Error(fmt::format("{}: member {}: members overlap; the file is truncated or damaged",
                              name, in_quotes(members.back().name)));
    compressed += members.back().comp_size;
    expanded += members.back().size;
    if (expanded > allowed)
      throw Error(fmt::format(
          "{}: its members take more than {} bytes when they are expanded, {} times the {} of the "
          "archive and {} MiB; no model compresses so far, so the file is damaged",
          name, allowed, kMaxModelExpansion, archive_bytes, kAlwaysExpanded >> 20));
  }
  return members;
}

}  // namespace

NpzFile read_npz(std::string_view bytes, const std::string& name_for_errors) {
  const Archive archive = open_archive(bytes, name_for_errors);
  NpzFile result;
  for (const zip_stat_t& stat : read_directory(archive.get(), bytes.size(), name_for_errors)) {
    std::string member = stat.name;
    const std::string where = fmt::format("{}: member {}", name_for_errors, in_quotes(member));
    if (!member.ends_with(".npy")) continue;
    member.resize(member.size() - 4);
    const bool special = member.starts_with("special:");
    if (special && member != kConfigMember) continue;
    MemberReader reader(archive.get(), stat.index, where);
    std::optional<Tensor> tensor = read_array(reader, stat.size, where);
    if (!tensor) continue;
    if (special)
      result.config_yaml = config_text(*tensor, where);
    else if (!result.tensors.emplace(std::move(member), *std::move(tensor)).second)
      throw Error(fmt::format("{}: the .npz archive has two members of the same name", where));
  }
  if (result.tensors.empty())
    throw Error(fmt::format("{}: the archive holds no numeric .npy array; a model is needed",
                            name_for_errors));
  return result;
}

NpzFile read_npz(const std::string& path) {
  if (is_compressed_model(path)) return read_npz(read_compressed_model(path), path);
  const MappedFile file = map_file(path);
  return read_npz({reinterpret_cast<const char*>(file.bytes.get()), file.size}, path);
}

Tensor read_npy(std::string_view bytes, const std::string& name_for_errors) {
  MemoryReader reader(bytes);
  std::optional<Tensor> tensor = read_array(reader, bytes.size(), name_for_errors);
  if (!tensor) throw Error(fmt::format("{}: the array holds no numbers", name_for_errors));
  return *std::move(tensor);
}

Tensor read_npy(const std::string& path) {
  const MappedFile file = map_file(path);
  return read_npy({reinterpret_cast<const char*>(file.bytes.get()), file.size}, path);
}

}  // namespace fuselage
