#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuselage {

/// CRC-32 of zip archives (ISO 3309), bit by bit.
std::uint32_t crc32_of(std::string_view bytes);

/// A zip archive of uncompressed members, by name and content.
std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& members);

/// Corrects the checksums of stored members, as far as the archive's structure is intact, so that
/// readers accept changed members.
void repair_checksums(std::string& archive);

}  // namespace fuselage
