#include "fuzz/zip.h"

#include <cstring>

namespace fuselage {
namespace {

// PKWARE's APPNOTE.TXT, 4.3: signatures and offsets of fields.
constexpr std::string_view kLocal("PK\3\4"), kCentral("PK\1\2"), kEnd("PK\5\6");
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46;

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void put(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (; size > 0; --size, value >>= 8) bytes += static_cast<char>(value & 0xFF);
}

/// Appends the fields that local and central headers share, beginning with the needed version.
void put_header(std::string& bytes, const std::string& name, const std::string& content) {
  put(bytes, 20, 2);
  put(bytes, 0, 8);  // flags, method, time, date
  put(bytes, crc32_of(content), 4);
  put(bytes, content.size(), 4);
  put(bytes, content.size(), 4);
  put(bytes, name.size(), 2);
  put(bytes, 0, 2);  // extra field
}

}  // namespace

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive, directory;
  for (const auto& [name, content] : members) {
    directory += kCentral;
    put(directory, 20, 2);
    put_header(directory, name, content);
    put(directory, 0, 10);  // comment, disk, attributes
    put(directory, archive.size(), 4);
    directory += name;
    archive += kLocal;
    put_header(archive, name, content);
    archive += name + content;
  }
  const std::size_t begin = archive.size();
  archive += directory;
  archive += kEnd;
  put(archive, 0, 4);
  put(archive, members.size(), 2);
  put(archive, members.size(), 2);
  put(archive, directory.size(), 4);
  put(archive, begin, 4);
  put(archive, 0, 2);
  return archive;
}

void repair_checksums(std::string& archive) {
  for (std::size_t at = archive.find(kCentral); at != std::string::npos;
       at = archive.find(kCentral, at + 1)) {
    if (archive.size() - at < kCentralBytes) return;
    const auto method = number_at<std::uint16_t>(archive, at + 10);
    const auto bytes = number_at<std::uint32_t>(archive, at + 20);
    const auto local = number_at<std::uint32_t>(archive, at + 42);
    if (method != 0 || local + kLocalBytes > archive.size()) continue;
    const std::size_t begin = local + kLocalBytes + number_at<std::uint16_t>(archive, local + 26) +
                              number_at<std::uint16_t>(archive, local + 28);
    if (begin > archive.size() || archive.size() - begin < bytes) continue;
    const std::uint32_t crc = crc32_of(std::string_view(archive).substr(begin, bytes));
    for (const std::size_t field : {at + 16, std::size_t{local} + 14})
      for (std::size_t i = 0; i < 4; ++i) archive[field + i] = static_cast<char>(crc >> 8 * i);
  }
}

}  // namespace fuselage
