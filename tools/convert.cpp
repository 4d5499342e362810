#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/bake.h"
#include "base/error.h"
#include "decoding/word_ranks.h"
#include "models/model_directory.h"
#include "tools/commands.h"
#include "tools/model_options.h"

namespace fuselage {
namespace {

/// Options that the written model brings as defaults for decoding.
constexpr const char* kDecodeOptions[] = {"beam-size",         "normalize",  "word-penalty",
                                          "max-length-factor", "mini-batch", "maxi-batch",
                                          "maxi-batch-sort"};

/// Refuses a vocabulary whose copy would take the place of a file of the model directory.
void check_name(const std::string& vocabulary) {
  const std::string name = std::filesystem::path(vocabulary).filename().string();
  for (const std::string_view taken : {"config.json", "graph.ir", "weights.safetensors"})
    if (name == taken)
      throw Error("{}: a vocabulary in a model directory cannot be called {}; rename it",
                  vocabulary, name);
}

}  // namespace

int run_convert(const std::vector<std::string>& arguments) {
  ModelOptions model_options;
  std::string output;
  SaveOptions save;
  bool bake_tables = false;
  CompileOptions compile;
  std::string frequency;
  Options options("convert",
                  "Write a model as a model directory: config.json, graph.ir, "
                  "weights.safetensors and the vocabularies.");
  model_options.add_model_to(options);
  CLI::App& app = options.app();
  app.add_option("-o,--output", output, "Directory to write");
  auto* half = app.add_flag("--half", save.half, "Store weights in half precision");
  app.add_flag("--bake-tables", bake_tables,
               "Store products with embeddings, and whatever else is computed when a model is "
               "loaded, in the place of the weights that they come from")
      ->excludes(half);
  app.add_flag("--exact", compile.exact,
               "With --bake-tables: only optimizations that keep every bit of a result");
  add_memory_option(app, compile);
  add_frequency_option(app, frequency);
  for (const char* name : kDecodeOptions) {
    const std::string key = name;
    std::string names = "--" + key;
    if (key == "beam-size") names = "-b," + names;
    if (key == "normalize") names = "-n," + names;
    app.add_option_function<std::string>(
           names,
           [&save, key](const std::string& value) {
             save.decode_options[key] = value.empty() ? "1" : value;
           },
           "Default for translating with the model")
        ->expected(key == "normalize" ? 0 : 1, 1)
        ->check(key == "maxi-batch-sort" ? sort_orders() : limits_of(key));
  }
  options.accept_without_effect();
  if (!options.parse(arguments)) return 0;
  model_options.finish(options);
  for (const char* option : {"--exact", "--precompute-memory", "--frequency"})
    if (!bake_tables && options.given(option))
      throw Error("{} says which tables are baked; give --bake-tables too", option);
  if (output.empty()) throw Error("give the directory to write with -o DIRECTORY");

  std::string path;
  LoadedModel loaded =
      load_named_model(model_options.models, model_options.ignore_unknown_config, path);
  for (const auto& [key, value] : loaded.decode_options) save.decode_options.emplace(key, value);
  const std::vector<std::string>& vocabularies = model_options.vocabularies.paths.empty()
                                                     ? loaded.model.vocabularies
                                                     : model_options.vocabularies.paths;
  for (const std::string& vocabulary : vocabularies) check_name(vocabulary);
  const VocabularyPairOptions pair{.paths = vocabularies};
  VocabularyPair checked = load_vocabulary_pair(loaded.model, pair);
  if (bake_tables) {
    if (!frequency.empty())
      compile.ranks = add_word_ranks(loaded.model, checked, frequency, checked.notes);
    bake(loaded.model.graph, loaded.model.weights, compile);
  }
  for (const std::string& note : checked.notes) print_note(note);
  // Marian files are all called model.npz; a directory has a name of its own.
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  loaded.model.graph.set_name(output.substr(output.rfind('/') + 1));
  save_model_directory(loaded.model, vocabularies, output, save);
  return 0;
}

}  // namespace fuselage
