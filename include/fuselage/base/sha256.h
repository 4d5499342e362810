#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A SHA-256 digest (FIPS 180-4).
using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

/// 64 lower-case hexadecimal digits, as sha256sum prints them.
std::string to_hex(const Sha256& digest);

/// An expected digest and its source.
struct ListedDigest {
  Sha256 digest{};
  std::string listed_in;  ///< the file that lists it, for messages
};

/// Throws Error with `path` and both digests unless `bytes`, the content of `path`, have the
/// expected digest.
void expect_digest(std::string_view bytes, const std::string& path, const ListedDigest& expected);

}  // namespace fuselage
