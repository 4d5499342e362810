#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuselage {

/// CRC-32 of zip archives (ISO 3309), bit by bit.
std::uint32_t crc32_of(std::string_view bytes);

/// A zip archive of members, by name and content, that are stored as they are.
std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& members);

/// Makes the checksums of stored members right where the archive's structure can still be followed,
/// so that what was changed in a member gets past them.
void repair_checksums(std::string& archive);

}  // namespace fuselage
