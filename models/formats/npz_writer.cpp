#include "models/formats/npz_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

std::string_view descr_of(DType dtype, const std::string& where) {
  switch (dtype) {
    case DType::f16:
      return "<f2";
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::i8:
      return "|i1";
    case DType::i16:
      return "<i2";
    case DType::i32:
      return "<i4";
    case DType::i64:
      return "<i8";
    case DType::u8:
      return "|u1";
    case DType::u16:
      return "<u2";
    case DType::u32:
      return "<u4";
    case DType::u64:
      return "<u8";
    default:
      throw Error(fmt::format("{}: numpy has no type {}", where, to_string(dtype)));
  }
}

/// The preamble of an .npy array, padded so that the data begins at a multiple of 64 bytes.
std::string preamble(const Tensor& tensor, const std::string& where) {
  std::string shape = fmt::format("{}", fmt::join(tensor.shape(), ", "));
  if (tensor.shape().size() == 1) shape += ',';
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr_of(tensor.dtype(), where), shape);
  constexpr std::size_t kFixed = 10;
  header.append(63 - (kFixed + header.size()) % 64, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header;
}

std::string_view data_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes()};
}

/// An archive that libzip writes into memory.
class ArchiveInMemory {
 public:
  explicit ArchiveInMemory(const std::string& path) : path_(path) {
    zip_error_t error;
    zip_error_init(&error);
    buffer_ = zip_source_buffer_create(nullptr, 0, 0, &error);
    archive_ = buffer_ ? zip_open_from_source(buffer_, ZIP_TRUNCATE, &error) : nullptr;
    if (archive_) {
      zip_source_keep(buffer_);
      zip_error_fini(&error);
      return;
    }
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (buffer_) zip_source_free(buffer_);
    fail(reason);
  }
  ArchiveInMemory(const ArchiveInMemory&) = delete;
  ArchiveInMemory& operator=(const ArchiveInMemory&) = delete;
  ~ArchiveInMemory() {
    if (archive_) zip_discard(archive_);
    zip_source_free(buffer_);
  }

  /// `bytes` have to stay valid until finish().
  void add(const std::string& name, std::string_view bytes) {
    zip_source_t* source = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    if (!source) fail(zip_strerror(archive_));
    const zip_int64_t index = zip_file_add(archive_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail(zip_strerror(archive_));
    }
    const auto at = static_cast<zip_uint64_t>(index);
    // The first day that zip knows, so that the bytes do not depend on the time.
    constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;
    if (zip_set_file_compression(archive_, at, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive_, at, 0, kFirstDay, 0) != 0)
      fail(zip_strerror(archive_));
  }

  std::string finish() {
    if (zip_close(archive_) != 0) fail(zip_strerror(archive_));
    archive_ = nullptr;
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_source_stat(buffer_, &stat) != 0 || zip_source_open(buffer_) != 0)
      fail(zip_error_strerror(zip_source_error(buffer_)));
    std::string bytes(stat.size, '\0');
    const zip_int64_t count = zip_source_read(buffer_, bytes.data(), bytes.size());
    zip_source_close(buffer_);
    if (count != static_cast<zip_int64_t>(bytes.size())) fail("the archive cannot be read back");
    return bytes;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: the .npz archive cannot be written: {}", path_, reason));
  }

  const std::string& path_;
  zip_source_t* buffer_ = nullptr;
  zip_t* archive_ = nullptr;
};

}  // namespace

void write_npy(const std::string& path, const Tensor& tensor) {
  const std::string head = preamble(tensor, path);
  const std::vector<std::string_view> parts{head, data_of(tensor)};
  write_file_atomically(path, parts);
}

void write_npz(const std::string& path, const TensorMap& tensors) {
  std::vector<std::string> members;
  ArchiveInMemory archive(path);
  for (const auto& [name, tensor] : tensors) {
    std::string& member =
        members.emplace_back(preamble(tensor, fmt::format("{}: member {}", path, name)));
    member += data_of(tensor);
  }
  std::size_t number = 0;
  for (const auto& [name, tensor] : tensors) archive.add(name + ".npy", members[number++]);
  write_file_atomically(path, archive.finish());
}

}  // namespace fuselage
