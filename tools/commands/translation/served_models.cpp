#include "tools/commands/translation/served_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/suggest.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/resolve_options.h"
#include "fuselage/backends/backend.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/search.h"
#include "fuselage/models/bundled_model.h"
#include "tools/commands/graphs/graph_page.h"
#include "tools/commands/open_model.h"

namespace fuselage {
namespace {

constexpr std::size_t kUnguidedTranslations = 4;

/// The name of a model's folder: also of a configuration or a file in it.
std::string name_of_model(const std::string& path) {
  std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  std::error_code ignored;
  if (std::filesystem::is_directory(absolute, ignored) ||
      languages_of_name(absolute.stem().string()))
    return absolute.stem().string();
  return absolute.parent_path().filename().string();
}

LanguagePair languages_of(const Model& model, const TranslatorOptions& options,
                          const std::string& path, const std::string& stated) {
  if (!stated.empty()) {
    const std::size_t dash = stated.find('-');
    if (dash == 0 || dash >= stated.size() - 1)
      throw Error(fmt::format("the languages {} are not a source and a target, such as en-de",
                              in_quotes(stated)));
    LanguagePair pair{stated.substr(0, dash), stated.substr(dash + 1)};
    for (const std::string& code : {pair.source, pair.target})
      if (!is_language_code(code))
        throw Error(fmt::format(
            "the languages {}: {} is no code; a code has 2 or 3 small letters, such as en or deu, "
            "which _ and a script or a country may follow, as zh_Hant",
            in_quotes(stated), in_quotes(code)));
    return pair;
  }
  LanguagePair pair{
      options.source_language.empty() ? model.text.source_language : options.source_language,
      options.target_language.empty() ? model.text.target_language : options.target_language};
  if (!pair.source.empty() && !pair.target.empty()) return pair;
  if (const auto named = languages_of_name(name_of_model(path))) {
    if (pair.source.empty()) pair.source = named->source;
    if (pair.target.empty()) pair.target = named->target;
    return pair;
  }
  throw Error(
      fmt::format("{}: neither the model nor the name of its folder tells its languages; "
                  "name the folder as en-de, or state --languages en-de",
                  path));
}

/// Whether lines can have prefixes, and numbers of translations of their own. On a GPU the search
/// would run on the host then.
bool may_have_guides(const Model& model, const TranslatorOptions& options) {
  return !model.right_left && !options.skip_cost && !options.sampling && !options.force_decode &&
         !options.constraints && !find_backend(options.compile.backend).capabilities().needs_gpu;
}

/// Whether translations get alignments, by which tags of HTML find their words. On a CPU they take
/// no time that can be measured; on a GPU the search would run on the host.
bool may_align(const Model& model, const TranslatorOptions& options, bool wanted) {
  if (!model.graph.find_output(kAlignment).valid()) return false;
  return wanted || (source_texts(model.graph).size() == 1 &&
                    !find_backend(options.compile.backend).capabilities().needs_gpu);
}

OpenedModel open_model(const std::string& path, const ServedModelOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.end(), {"-m", path});
  LanguagePair languages;
  bool alignment = false, guided = false;
  const auto adjust = [&](const Model& model, TranslatorOptions& translator) {
    languages = languages_of(model, translator, path, options.languages);
    alignment = may_align(model, translator, options.alignment);
    translator.alignment = alignment;
    guided = may_have_guides(model, translator);
    translator.guided = guided;
    // The beam is the number of samples.
    if (translator.sampling && !translator.beam_size)
      translator.beam_size =
          static_cast<std::int32_t>(options.n_best.value_or(kUnguidedTranslations));
    const std::int32_t beam = resolved(translator, model).beam_size.value();
    // Without guides, each line is translated so many times.
    const auto n_best = options.n_best.value_or(guided ? beam : kUnguidedTranslations);
    translator.n_best = std::min<std::int32_t>(beam, static_cast<std::int32_t>(n_best));
    translator.log = options.log;
    if (find_backend(translator.compile.backend)
            .capabilities()
            .options.contains(BackendOption::profile))
      translator.compile.shared_profile = std::make_shared<SharedProfile>();
  };
  Translator translator = open_adjusted_translator(arguments, options.log, adjust);
  auto graph_page = graph_page_of(translator, to_string(languages));
  return {languages, alignment, std::move(translator), guided, std::move(graph_page)};
}

/// The models in a folder, by name: folders and files that can be loaded as a model by their names.
std::vector<std::string> models_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (entry.is_directory() || entry.path().extension() == ".argosmodel")
      paths.push_back(entry.path().string());
  }
  if (failure) throw Error(fmt::format("cannot read {}: {}", folder, failure.message()));
  if (paths.empty())
    throw Error(
        fmt::format("{}: there is no folder of a model in it, such as {}/en-de", folder, folder));
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> paths_of(const ServedModelOptions& options) {
  if (!options.folder.empty()) return models_in(options.folder);
  if (!options.model.empty()) return {options.model};
  return find_bundled_models();
}

}  // namespace

std::vector<OpenedModel> open_served_models(const ServedModelOptions& options) {
  std::vector<OpenedModel> opened;
  const std::vector<std::string> paths = paths_of(options);
  for (const std::string& path : paths) {
    opened.push_back(open_model(path, options));
    const LanguagePair& pair = opened.back().languages;
    const auto first = std::ranges::find(opened, pair, &OpenedModel::languages) - opened.begin();
    if (const auto& former = paths[static_cast<std::size_t>(first)]; former != path)
      throw Error(fmt::format("two models translate {}: {} and {}; serve one of them",
                              to_string(pair), former, path));
  }
  return opened;
}

}  // namespace fuselage
