#include "backends/cpu/weight_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/file.h"

namespace fuselage::cpu {
namespace {

/// To be raised when regions of the same content get other bytes.
constexpr std::uint64_t kFormat = 1;

constexpr std::string_view kMagic = "fuselage weights";

/// What the header begins with; zeros follow. The checksum is of all before it.
struct Header {
  std::array<char, kMagic.size()> magic{};
  std::uint64_t format = kFormat;
  std::array<std::uint64_t, 2> key{};
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 56 && sizeof(Header) <= WeightCache::kHeaderBytes);

std::uint64_t checksum_of(const Header& header) {
  ContentHash hash;
  hash.add(&header, offsetof(Header, checksum));
  return hash.words()[0];
}

}  // namespace

WeightCache::WeightCache(const std::string& directory, const ContentHash& content)
    : path_((std::filesystem::path(directory) / (content.text() + ".weights")).string()),
      key_(content.words()) {}

std::string WeightCache::header(std::size_t size) const {
  Header header{.key = key_, .size = size};
  std::copy(kMagic.begin(), kMagic.end(), header.magic.begin());
  header.checksum = checksum_of(header);
  std::string bytes(kHeaderBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
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
  if (file.size() - kHeaderBytes != size)
    return fmt::format("{} bytes follow its header instead of {}", file.size() - kHeaderBytes,
                       size);
  return "";
}

CachedBytes WeightCache::find(std::size_t size) const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return {};
  try {
    const MappedFile file = map_file(path_);
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.get()), file.size);
    const std::string problem = problem_of(bytes, size);
    if (problem.empty()) return {{file.bytes, file.bytes.get() + kHeaderBytes}, ""};
    return {nullptr, fmt::format("cached weights are made anew: {}: {}", path_, problem)};
  } catch (const Error& failure) {
    return {nullptr, fmt::format("cached weights are made anew: {}", failure.what())};
  }
}

CachedBytes WeightCache::store(std::string_view bytes) const {
  const auto directory = std::filesystem::path(path_).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return {nullptr, fmt::format("weights are not cached: cannot make the directory {}: {}",
                                 directory.string(), error.message())};
  try {
    const std::string head = header(bytes.size());
    const std::array<std::string_view, 2> parts{head, bytes};
    write_file_atomically(path_, parts);
  } catch (const Error& failure) {
    return {nullptr, fmt::format("weights are not cached: {}", failure.what())};
  }
  return find(bytes.size());
}

}  // namespace fuselage::cpu
