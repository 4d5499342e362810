#include "backends/cpu/weights/weight_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "backends/cpu/weights/weight_cache_folder.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage::cpu {
namespace {

/// Increase this when the header changes.
constexpr std::uint64_t kFormat = 2;

constexpr std::string_view kMagic = "fuselage weights";

/// The first page of a file. The checksum covers all preceding fields.
struct Header {
  std::array<char, kMagic.size()> magic{};
  std::uint64_t format = kFormat;
  std::array<std::uint64_t, 2> key{};
  std::uint64_t size = 0;
  std::array<std::uint64_t, 2> content{};
  std::array<std::uint64_t, 502> unused{};
  std::array<std::uint64_t, 2> checksum{};
};
static_assert(sizeof(Header) == WeightCache::kHeaderBytes);

std::array<std::uint64_t, 2> hash_of(const void* bytes, std::size_t size) {
  ContentHash hash;
  hash.add(bytes, size);
  return hash.words();
}

std::array<std::uint64_t, 2> checksum_of(const Header& header) {
  return hash_of(&header, offsetof(Header, checksum));
}

/// The reason not to trust an open file, whatever its content; empty if it is trusted.
std::string distrust_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (status.st_uid != ::geteuid())
    return fmt::format("it belongs to user {}, not to user {}", status.st_uid, ::geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("other users may write it (its mode is {:04o})", status.st_mode & 07777);
  return "";
}

CachedBytes refusal(const std::string& path, std::string_view reason) {
  return {nullptr, fmt::format("weights are not cached: {}: {}", path, reason), true};
}

}  // namespace

WeightCache::WeightCache(std::string directory, const ContentHash& content, std::uint64_t max_bytes)
    : directory_(std::move(directory)),
      path_((std::filesystem::path(directory_) / (content.text() + std::string(kWeightsSuffix)))
                .string()),
      key_(content.words()),
      max_bytes_(max_bytes) {}

std::string WeightCache::header(std::string_view bytes) const {
  Header header{.key = key_, .size = bytes.size(), .content = hash_of(bytes.data(), bytes.size())};
  std::copy(kMagic.begin(), kMagic.end(), header.magic.begin());
  header.checksum = checksum_of(header);
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::string WeightCache::problem_of(std::string_view file, std::size_t size) const {
  if (file.size() < kHeaderBytes) return fmt::format("{} bytes are too few", file.size());
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic)
    return "it does not begin as such a file does";
  if (header.format != kFormat)
    return fmt::format("it has format {}, not {}", header.format, kFormat);
  if (header.checksum != checksum_of(header)) return "the checksum of its header is wrong";
  if (header.key != key_) return "it was made from something else";
  if (header.size != size)
    return fmt::format("it was made for {} bytes, but {} are needed", header.size, size);
  const std::string_view content = file.substr(kHeaderBytes);
  if (content.size() != size)
    return fmt::format("{} bytes follow its header instead of {}", content.size(), size);
  if (header.content != hash_of(content.data(), content.size()))
    return "the checksum of its content is wrong";
  return "";
}

CachedBytes WeightCache::find(std::size_t size) const {
  // Checks below use the open descriptor, so the name is looked up only once. O_NONBLOCK: opening a
  // pipe does not wait for a writer.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Descriptor file(::open(path_.c_str(), kFlags));
  if (file.get() >= 0) return map(file, size);
  if (errno == ELOOP) return refusal(path_, "it is a symbolic link; remove it");
  // store() reports problems of the directory.
  if (errno == ENOENT || errno == ENOTDIR) return {};
  return refusal(path_, std::strerror(errno));
}

CachedBytes WeightCache::map(const Descriptor& file, std::size_t size) const {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refusal(path_, std::strerror(errno));
  const std::string distrust = distrust_of(status);
  if (!distrust.empty()) return refusal(path_, distrust + "; remove it");
  const auto file_size = static_cast<std::size_t>(status.st_size);
  const Pages pages = file_size < kHeaderBytes ? nullptr : map_shared(file, file_size);
  if (!pages && file_size >= kHeaderBytes) return refusal(path_, std::strerror(errno));
  const std::string problem =
      problem_of({reinterpret_cast<const char*>(pages.get()), file_size}, size);
  if (!problem.empty())
    return {nullptr, fmt::format("cached weights are made anew: {}: {}", path_, problem)};
  // The time of modification records the last use, since systems often do not keep the time of
  // access. The update fails on a read-only file system; then it is skipped.
  const std::array<struct timespec, 2> times{{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
  ::futimens(file.get(), times.data());
  return {{pages, pages.get() + kHeaderBytes}, ""};
}

CachedBytes WeightCache::store(std::string_view bytes) const {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error)
    return {nullptr, fmt::format("weights are not cached: cannot make the directory {}: {}",
                                 directory_, error.message())};
  try {
    const std::string head = header(bytes);
    const std::array<std::string_view, 2> parts{head, bytes};
    write_file_atomically(path_, parts, S_IRUSR | S_IWUSR);
  } catch (const Error& failure) {
    return {nullptr, fmt::format("weights are not cached: {}", failure.what())};
  }
  CachedBytes stored = find(bytes.size());
  const std::string problem = remove_old_weights(directory_, path_, max_bytes_);
  if (stored.note.empty()) stored.note = problem;
  return stored;
}

}  // namespace fuselage::cpu
