#include "base/files/file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "base/files/archive.h"
#include "base/files/open_file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// The most that a call reads or writes: sizes of some systems have 32 bits.
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), std::min(bytes.size(), kMaxPiece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// A new file beside `path`. Its name is random, since a killed process leaves its file behind, and
/// a process ID is not unique across containers.
struct TemporaryFile {
  std::string path;
  Descriptor file;
};

TemporaryFile make_temporary(const std::string& path, unsigned permissions) {
  constexpr int kMaxTries = 100;
  std::random_device random;
  TemporaryFile made{"", Descriptor(-1)};
  for (int i = 0; i < kMaxTries && made.file.get() < 0; ++i) {
    made.path = fmt::format("{}{}{:08x}{:08x}", path, kTemporarySuffix, random(), random());
    made.file = create_file(made.path, permissions);
    if (made.file.get() < 0 && errno != EEXIST) break;
  }
  if (made.file.get() < 0)
    throw Error(fmt::format("cannot write {}: cannot create {}: {}", path, made.path,
                            std::strerror(errno)));
  return made;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
  Descriptor file = open_to_read(path);
  if (file.get() < 0 && errno == ENOTDIR) {
    if (const auto member = archive_member(path)) return read_member(*member, max_bytes);
    errno = ENOTDIR;
  }
  if (file.get() < 0) throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    throw Error(fmt::format("cannot read {}: it is a directory, a file is needed", path));
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > max_bytes)
    throw Error(fmt::format("cannot read {}: it has {} bytes, more than {}", path, status.st_size,
                            max_bytes));

  std::string bytes;
  std::size_t used = 0;
  // One byte more than the size, so that the end of a regular file is detected without growing the
  // buffer.
  bytes.resize(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : 65536);
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const auto count =
        ::read(file.get(), bytes.data() + used, std::min(bytes.size() - used, kMaxPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used > max_bytes)
      throw Error(fmt::format("cannot read {}: it has more than {} bytes", path, max_bytes));
  }
  bytes.resize(used);
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, std::span(&bytes, 1));
}

void write_file_atomically(const std::string& path, std::span<const std::string_view> parts,
                           unsigned permissions) {
  TemporaryFile made = make_temporary(path, permissions);
  std::error_code reason;
  const auto fail = [&](std::string_view what) {
    std::error_code unknown;
    made.file = Descriptor(-1);
    std::filesystem::remove(made.path, unknown);
    throw Error(fmt::format("cannot write {}: {}{}", path, what, reason.message()));
  };
  const auto write = [&](std::string_view bytes) { return write_all(made.file.get(), bytes); };
  if (!std::all_of(parts.begin(), parts.end(), write) || !flush_to_disk(made.file) ||
      !made.file.close()) {
    reason.assign(errno, std::generic_category());
    fail("");
  }
  std::filesystem::rename(made.path, path, reason);
  if (reason) fail(fmt::format("cannot rename {} to it: ", made.path));
}

std::string_view file_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

}  // namespace fuselage
