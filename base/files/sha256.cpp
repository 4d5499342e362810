#include "fuselage/base/sha256.h"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

static_assert(sizeof(Sha256) == SHA256_DIGEST_SIZE);

/// The first digits of a digest, for messages.
std::string shortened(const Sha256& digest) { return to_hex(digest).substr(0, 12) + "…"; }

}  // namespace

Sha256 sha256(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  Sha256 digest{};
  sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

std::string to_hex(const Sha256& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

void expect_digest(std::string_view bytes, const std::string& path, const ListedDigest& expected) {
  if (const Sha256 actual = sha256(bytes); actual != expected.digest)
    throw Error(fmt::format(
        "{}: its SHA-256 is {}, but {} lists {}; the file was changed or damaged: restore it, or "
        "list the new sum if the change is meant",
        path, shortened(actual), expected.listed_in, shortened(expected.digest)));
}

}  // namespace fuselage
