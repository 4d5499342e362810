// The minimal build has no archives.
#include "base/files/archive.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"

namespace fuselage {

bool is_archive(const std::string&) { return false; }

std::optional<ArchiveMember> archive_member(const std::string&) { return std::nullopt; }

std::string read_member(const ArchiveMember& member, std::size_t) {
  throw Error(fmt::format("{}: this build reads no archives; unpack it first", member.archive));
}

std::vector<std::string> member_names(const std::string& archive) {
  throw Error(fmt::format("{}: this build reads no archives; unpack it first", archive));
}

}  // namespace fuselage
