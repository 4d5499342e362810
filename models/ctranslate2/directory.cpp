#include "models/ctranslate2/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/archive.h"
#include "base/files/file.h"
#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "models/ctranslate2/configuration.h"
#include "models/ctranslate2/model_bin.h"
#include "models/ctranslate2/transformer_options.h"
#include "models/ctranslate2/vocabulary_words.h"
#include "models/ctranslate2/weights.h"
#include "models/formats/foreign_models.h"
#include "models/formats/json.h"
#include "models/limits.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelBin = "model.bin";
constexpr const char* kStartEmbedding = "decoder/start_embedding";

/// A folder of files, on a disk or in an archive.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path), member_(archive_member(path)) {
    if (member_) names_ = member_names(member_->archive);
  }

  std::string path_of(const std::string& name) const { return (fs::path(path_) / name).string(); }

  bool has(const std::string& name) const {
    std::error_code error;
    if (!member_) return fs::is_regular_file(path_of(name), error);
    const std::string inner = (fs::path(member_->name) / name).string();
    return std::find(names_.begin(), names_.end(), inner) != names_.end();
  }

  /// The bytes of model.bin, which `keep` owns.
  std::string_view read_model(std::shared_ptr<const void>& keep) const {
    const std::string path = path_of(kModelBin);
    if (!member_) {
      const MappedFile file = map_file(path);
      keep = file.bytes;
      return {reinterpret_cast<const char*>(file.bytes.get()), file.size};
    }
    std::error_code error;
    const std::uintmax_t size = fs::file_size(member_->archive, error);
    const std::uintmax_t bound = error ? 0 : kMaxModelExpansion * size + kAlwaysExpanded;
    auto bytes = std::make_shared<const std::string>(read_file(path, bound));
    keep = bytes;
    return *bytes;
  }

  std::string first_of(const std::vector<std::string>& names) const {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return has(name); });
    return found == names.end() ? "" : path_of(*found);
  }

 private:
  std::string path_;
  std::optional<ArchiveMember> member_;
  std::vector<std::string> names_;  ///< of an archive
};

/// The paths of the source and the target vocabulary.
std::vector<std::string> find_vocabularies(const Folder& folder, const std::string& path) {
  const auto find = [&](const std::string& name) {
    return folder.first_of({name + ".json", name + ".txt"});
  };
  if (const std::string shared = find("shared_vocabulary"); !shared.empty())
    return {shared, shared};
  std::vector<std::string> found = {find("source_vocabulary"), find("target_vocabulary")};
  for (const auto& [file, name] : {std::pair(found[0], "source"), std::pair(found[1], "target")})
    if (file.empty())
      throw Error(fmt::format(
          "{}: the model.bin of CTranslate2 has no vocabulary beside it: neither "
          "shared_vocabulary nor {}_vocabulary, in .json or .txt; give the whole directory",
          path, name));
  return found;
}

/// The numbers of row `row` of a table.
Tensor row_of(const Tensor& table, std::int64_t row) {
  const Tensor numbers = table.to_f32();
  const std::int64_t width = numbers.shape()[1];
  Tensor result(DType::f32, {width});
  std::copy_n(numbers.data<float>() + row * width, width, result.mutable_data<float>());
  return result;
}

/// The id of the word that a decoder starts with. As in CTranslate2 it is that of the unknown word
/// if the vocabulary lacks it, and the unknown word is behind the last one if it lacks that, too.
std::int64_t start_id(const Ctranslate2Configuration& configuration,
                      const std::vector<std::string>& words, std::int64_t rows,
                      const std::string& where, const std::string& vocabulary) {
  if (!configuration.start)
    throw Error(
        fmt::format("{}: decoder_start_token is null, so that each translation starts with a word "
                    "that its caller gives, which is not supported; state the word there",
                    where));
  for (const std::string& word : {*configuration.start, configuration.unknown})
    if (const auto found = std::find(words.begin(), words.end(), word);
        found != words.end() && found - words.begin() < rows)
      return found - words.begin();
  if (static_cast<std::int64_t>(words.size()) < rows)
    return static_cast<std::int64_t>(words.size());
  throw Error(fmt::format("{}: the vocabulary has neither {}, with which a decoder starts, nor {}",
                          vocabulary, in_quotes(*configuration.start),
                          in_quotes(configuration.unknown)));
}

TextFormat text_format(const Ctranslate2Configuration& configuration) {
  TextFormat text{.end = configuration.end,
                  .unknown = configuration.unknown,
                  .source_end = configuration.source_end};
  if (configuration.source_begin) text.source_prefix = {configuration.begin};
  return text;
}

}  // namespace

bool is_ctranslate2_directory(const std::string& path) {
  const Folder folder(path);
  if (!folder.has(kModelBin)) return false;
  return archive_member(path) || is_ctranslate2_file(folder.path_of(kModelBin));
}

Model load_ctranslate2_directory(const std::string& path) {
  const Folder folder(path);
  const std::string where = folder.path_of(kModelBin);
  std::shared_ptr<const void> keep;
  const Ctranslate2File file = read_ctranslate2_file(folder.read_model(keep), where);
  const std::string config = folder.path_of("config.json");
  const Ctranslate2Configuration configuration = read_ctranslate2_configuration(
      file, folder.has("config.json") ? read_file(config, JsonLimits{}.bytes) : "", config);
  const ModelOptions options(ctranslate2_options(file, configuration, where), where);
  Ctranslate2Weights weights = ctranslate2_weights(file, where);
  const std::vector<std::string> vocabularies = find_vocabularies(folder, path);
  const std::vector<std::string> words = read_vocabulary_words(vocabularies[1]);
  const Tensor& table = weights.tensors.at(options.text("target-table"));
  if (!options.flag("start-from-zero-embedding"))
    weights.tensors.insert_or_assign(
        kStartEmbedding,
        row_of(table, start_id(configuration, words, table.shape()[0], where, vocabularies[1])));

  const fs::path name = fs::path(path) / "";
  Model model = build_model("ctranslate2-transformer", options, weights.tensors,
                            name.parent_path().filename().string());
  model.text = text_format(configuration);
  model.vocabularies = vocabularies;
  if (folder.has("source.spm") && folder.has("target.spm"))
    model.splitters = {folder.path_of("source.spm"), folder.path_of("target.spm")};
  model.decode.precision = weights.precision;
  model.format = "CTranslate2 directory";
  model.architecture = "ctranslate2-transformer";
  model.options = options.yaml();
  return model;
}

}  // namespace fuselage
