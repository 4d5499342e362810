#include "base/files/archive.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/files/open_file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr zip_int64_t kMaxMembers = 65'536;
/// Bound of the expansion of a deflate stream; a larger declared size is false.
constexpr std::uint64_t kMaxDeflation = 1040;

using ZipArchive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

ZipArchive open_zip(const std::string& path) {
  int code = 0;
  zip_t* const archive = ::zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive == nullptr) {
    zip_error_t error;
    ::zip_error_init_with_code(&error, code);
    const std::string reason = ::zip_error_strerror(&error);
    ::zip_error_fini(&error);
    throw Error(fmt::format("{}: cannot read the ZIP archive: {}", path, reason));
  }
  return {archive, ::zip_discard};
}

std::string path_of_member(const ArchiveMember& member) {
  return member.archive + "/" + member.name;
}

/// The entry of a member, which can be read within the bound.
zip_stat_t checked_stat(zip_t* archive, const ArchiveMember& member, std::size_t max_bytes) {
  const std::string path = path_of_member(member);
  zip_stat_t stat;
  ::zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (::zip_stat(archive, member.name.c_str(), ZIP_FL_ENC_RAW, &stat) != 0 ||
      (stat.valid & kNeeded) != kNeeded)
    throw Error(fmt::format("cannot open {}: the archive has no such file", path));
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
    throw Error(fmt::format("cannot read {}: it is encrypted", path));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    throw Error(
        fmt::format("cannot read {}: compression method {} is not supported; use stored or deflate",
                    path, stat.comp_method));
  if (stat.size > max_bytes)
    throw Error(
        fmt::format("cannot read {}: it has {} bytes, more than {}", path, stat.size, max_bytes));
  struct stat status {};
  const bool is_cut = ::stat(member.archive.c_str(), &status) != 0 ||
                      stat.comp_size > static_cast<std::uint64_t>(status.st_size);
  if (is_cut || stat.size / kMaxDeflation > stat.comp_size)
    throw Error(
        fmt::format("cannot read {}: {} stored bytes of {} are not in the archive; it is "
                    "damaged",
                    path, stat.comp_size, stat.size));
  return stat;
}

}  // namespace

bool is_archive(const std::string& path) {
  const Descriptor file = open_without_waiting(path);
  struct stat status {};
  char head[4] = {};
  return file.get() >= 0 && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::read(file.get(), head, sizeof head) == sizeof head &&
         std::string_view(head, sizeof head) == "PK\x03\x04";
}

std::optional<ArchiveMember> archive_member(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string file = path.substr(0, slash);
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return std::nullopt;
    if (S_ISDIR(status.st_mode)) continue;
    if (!is_archive(file)) return std::nullopt;
    return ArchiveMember{file, path.substr(slash + 1)};
  }
  return std::nullopt;
}

std::string read_member(const ArchiveMember& member, std::size_t max_bytes) {
  const ZipArchive archive = open_zip(member.archive);
  const zip_stat_t stat = checked_stat(archive.get(), member, max_bytes);
  const auto fail = [&](std::string_view reason) {
    throw Error(fmt::format("cannot read {}: {}", path_of_member(member), reason));
  };
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      ::zip_fopen_index(archive.get(), stat.index, 0), ::zip_fclose);
  if (!file) fail(::zip_strerror(archive.get()));
  std::string bytes(stat.size, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const zip_int64_t count = ::zip_fread(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0) fail(::zip_file_strerror(file.get()));
    if (count == 0) fail(fmt::format("it ends after {} of {} bytes", used, bytes.size()));
    used += static_cast<std::size_t>(count);
  }
  // At the end the checksum is compared.
  char behind = 0;
  const zip_int64_t rest = ::zip_fread(file.get(), &behind, 1);
  if (rest < 0) fail(::zip_file_strerror(file.get()));
  if (rest > 0) fail("it is longer than the archive says");
  return bytes;
}

std::vector<std::string> member_names(const std::string& archive) {
  const ZipArchive zip = open_zip(archive);
  const zip_int64_t count = ::zip_get_num_entries(zip.get(), 0);
  if (count > kMaxMembers)
    throw Error(fmt::format("{}: the archive has {} members, at most {} are read", archive, count,
                            kMaxMembers));
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name =
        ::zip_get_name(zip.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name == nullptr)
      throw Error(
          fmt::format("{}: the archive is damaged: {}", archive, ::zip_strerror(zip.get())));
    if (const std::string_view text = name; !text.ends_with('/')) names.emplace_back(text);
  }
  return names;
}

}  // namespace fuselage
