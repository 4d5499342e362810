#include "models/bundled_model.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundledModel = "en-de";

/// The file that holds this code: the library, or the program that it is linked into; empty if the
/// system does not say.
fs::path own_file() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&own_file), &self) == 0 || self.dli_fname == nullptr)
    return {};
  std::error_code error;
  fs::path file = fs::canonical(self.dli_fname, error);
  return error ? fs::path() : file;
}

/// Possible paths of the bundled model, in order.
std::vector<std::string> places() {
  if (const char* models = std::getenv("FUSELAGE_MODELS"); models != nullptr && *models != '\0')
    return {(fs::path(models) / kBundledModel).string(), models};
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) found.push_back(program.parent_path() / "models");
  for (const fs::path& file : {program, own_file()})
    if (!file.empty())
      found.push_back(file.parent_path().parent_path() / "share" / "fuselage" / "models");
  found.push_back(fs::path(FUSELAGE_SOURCE_DIR) / "models");
  std::vector<std::string> names;
  for (const fs::path& folder : found) {
    std::string name = (folder / kBundledModel).string();
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
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
