#include "fuselage/models/bundled_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/machine/library_path.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundledModel = "en-de";

/// Possible paths of the bundled model, in order: in a build, and installed.
std::vector<std::string> places() {
  if (const char* models = std::getenv("FUSELAGE_MODELS"); models != nullptr && *models != '\0')
    return {(fs::path(models) / kBundledModel).string(), models};
  const fs::path directory = library_path().parent_path();
  return {(directory / "models" / kBundledModel).string(),
          (directory / FUSELAGE_DATA_FROM_LIBRARY / "models" / kBundledModel).lexically_normal()};
}

}  // namespace

std::string find_bundled_model() {
  const std::vector<std::string> looked = places();
  for (const std::string& place : looked) {
    std::error_code error;
    if (fs::exists(fs::path(place) / "config.json", error)) return place;
  }
  throw Error(fmt::format(
      "there is no bundled model in {}; set FUSELAGE_MODELS to the directory that holds {}",
      fmt::join(looked, ", "), kBundledModel));
}

}  // namespace fuselage
