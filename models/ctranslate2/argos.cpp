#include "models/ctranslate2/argos.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files/archive.h"
#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/ctranslate2/directory.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetadata = "metadata.json";

/// The files of a package, by their names in it.
class Package {
 public:
  explicit Package(const std::string& path) : root_(path) {
    if (!is_archive(path)) return;
    names_ = member_names(path);
    // The folder that holds the rest.
    const auto is_metadata = [](const std::string& name) {
      const std::size_t slash = name.find('/');
      return name == kMetadata ||
             (slash != std::string::npos && name.substr(slash + 1) == kMetadata);
    };
    const auto found = std::find_if(names_.begin(), names_.end(), is_metadata);
    if (found == names_.end())
      throw Error(fmt::format("{}: the archive has no {}, so it is no package of Argos Translate",
                              path, kMetadata));
    top_ = found->substr(0, found->size() - std::string_view(kMetadata).size());
    if (!top_.empty()) root_ = path + "/" + top_.substr(0, top_.size() - 1);
  }

  std::string path_of(const std::string& name) const { return root_ + "/" + name; }

  bool has(const std::string& name) const {
    std::error_code error;
    if (names_.empty()) return fs::exists(path_of(name), error);
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& member) {
      return member == top_ + name || member.starts_with(top_ + name + "/");
    });
  }

 private:
  std::string root_, top_;
  std::vector<std::string> names_;  ///< of an archive
};

/// The texts of metadata.json.
class Metadata {
 public:
  explicit Metadata(const std::string& path)
      : path_(path), object_(load_json(read_file(path, JsonLimits{}.bytes), path)) {
    if (!object_.is_object())
      throw Error(fmt::format("{}: the metadata of a package are an object", path));
  }

  /// "" for a key that is not there.
  std::string text(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return "";
    if (!found->is_string()) throw Error(fmt::format("{}: '{}' must be a text", path_, key));
    return found->get<std::string>();
  }

 private:
  const std::string& path_;
  nlohmann::json object_;
};

}  // namespace

bool is_argos_package(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return fs::exists(fs::path(path) / kMetadata, error) &&
           fs::is_directory(fs::path(path) / "model", error);
  return file_extension(path) == "argosmodel";
}

Model load_argos_package(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error) && !is_archive(path))
    throw Error(
        fmt::format("{}: a package of Argos Translate is a ZIP archive, and this is none", path));
  const Package package(path);
  const std::string metadata_path = package.path_of(kMetadata);
  const Metadata metadata(metadata_path);
  if (const std::string type = metadata.text("type"); !type.empty() && type != "translate")
    throw Error(fmt::format("{}: packages of the type {} are not supported, only 'translate'",
                            metadata_path, in_quotes(type)));
  Model model = load_ctranslate2_directory(package.path_of("model"));
  model.format = "Argos package";
  model.graph.set_name(fs::path(path + "/").parent_path().filename().string());
  model.text.source_language = metadata.text("from_code");
  model.text.target_language = metadata.text("to_code");
  if (const std::string prefix = metadata.text("target_prefix"); !prefix.empty())
    model.text.target_prefix = {prefix};
  const bool has_pieces = package.has("sentencepiece.model");
  if (!has_pieces && !package.has("bpe.model"))
    throw Error(fmt::format(
        "{}: the package has neither sentencepiece.model nor bpe.model, which split its text",
        path));
  const std::string splitter = package.path_of(has_pieces ? "sentencepiece.model" : "bpe.model");
  model.splitters = {splitter, splitter};
  if (!has_pieces)
    model.notes.push_back(fmt::format(
        "{}: Argos Translate splits words from punctuation before it uses these codes, by the "
        "rules of Moses; give lines that are split so",
        splitter));
  if (package.has("stanza"))
    model.notes.push_back(fmt::format(
        "{}: its models of Stanza, which split text into sentences, are not used; each line is a "
        "sentence",
        path));
  return model;
}

}  // namespace fuselage
