#include "models/directory/manifest.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kDigits = 64;

std::optional<Sha256> parse_digest(std::string_view digits) {
  Sha256 digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const begin = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, digest[i], 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
  }
  return digest;
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && name != kManifestFile;
}

}  // namespace

Manifest parse_manifest(std::string_view text, const std::string& path) {
  Manifest manifest;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool is_complete = line.size() > kDigits + 2 && line[kDigits] == ' ' &&
                             (line[kDigits + 1] == ' ' || line[kDigits + 1] == '*');
    const auto digest = is_complete ? parse_digest(line) : std::nullopt;
    if (!digest)
      throw Error(
          fmt::format("{}: line {}: {} is not a SHA-256 of {} digits, two blanks and a file name",
                      path, number, in_quotes(line), kDigits));
    const std::string_view name = line.substr(kDigits + 2);
    if (!is_file_name(name))
      throw Error(fmt::format("{}: line {}: {} must be another file in the model directory", path,
                              number, in_quotes(name)));
    if (!manifest.emplace(name, *digest).second)
      throw Error(fmt::format("{}: line {}: {} is listed twice", path, number, in_quotes(name)));
  }
  return manifest;
}

std::string print_manifest(const Manifest& manifest) {
  std::string text;
  for (const auto& [name, digest] : manifest) text += fmt::format("{}  {}\n", to_hex(digest), name);
  return text;
}

}  // namespace fuselage
