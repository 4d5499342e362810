#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage {

/// A SHA-256 digest (FIPS 180-4).
using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

/// 64 lower-case hexadecimal digits, as sha256sum prints them.
std::string to_hex(const Sha256& digest);

/// The digest that a file must have.
struct ListedDigest {
  Sha256 digest{};
  std::string listed_in;  ///< the file that says so, for messages
};

/// Throws Error with `path`, the file that `bytes` come from, and both digests, unless it is
/// theirs.
void expect_digest(std::string_view bytes, const std::string& path, const ListedDigest& expected);

}  // namespace fuselage
