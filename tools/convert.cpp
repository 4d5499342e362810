#include <string>
#include <utility>
#include <vector>

#include "backends/bake.h"
#include "base/error.h"
#include "decoding/word_ranks.h"
#include "tools/commands.h"
#include "tools/model_options.h"
#include "tools/write_model.h"

namespace fuselage {
namespace {

/// Options that the written model brings as defaults for decoding.
constexpr const char* kDecodeOptions[] = {"beam-size",         "normalize",  "word-penalty",
                                          "max-length-factor", "mini-batch", "maxi-batch",
                                          "maxi-batch-sort"};

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

  const std::vector<std::string>& given = model_options.vocabularies.paths;
  NamedModel loaded = load_named_models(
      model_options.models, !given.empty(),
      [&](const std::string& name) { return save.decode_options.contains(name); });
  write_model(std::move(loaded), given, output, save, [&](Model& model, VocabularyPair& checked) {
    if (!bake_tables) return;
    if (!frequency.empty())
      compile.ranks = add_word_ranks(model, checked, frequency, checked.notes);
    bake(model.graph, model.weights, compile);
  });
  return 0;
}

}  // namespace fuselage
