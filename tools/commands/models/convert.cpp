#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/bake.h"
#include "decoding/lines/word_ranks.h"
#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "tools/commands/commands.h"
#include "tools/commands/models/write_model.h"
#include "tools/options/model_command_options.h"
#include "tools/options/option_table.h"
#include "tools/options/shortlist_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

/// Options that become the decoding defaults of the written model.
constexpr const char* kDecodeOptions[] = {"beam-size",         "normalize",  "word-penalty",
                                          "max-length-factor", "mini-batch", "maxi-batch",
                                          "maxi-batch-sort"};

class ConvertCommand : public Command {
 public:
  ConvertCommand();
  int run() override;

 private:
  void add_decode_options();

  ModelCommandOptions common_;
  std::string output_;
  DecodeDefaults decode_;
  SaveOptions save_;
  ProbeOptions probes_;
  ShortlistChoice shortlist_;
  bool bake_tables_ = false;
  CompileOptions compile_;
  std::string frequency_;
};

ConvertCommand::ConvertCommand()
    : Command("convert",
              "Write a model as a model directory: config.json, graph.ir, weights.safetensors and "
              "the vocabularies.",
              {{"fuselage convert -m model.npz -v vocab.spm vocab.spm -b 6 -n 0.6 -o my-model",
                "A Marian model as a directory that brings its defaults for decoding."}}) {
  common_.add_model_to(options());
  options().begin_group("Output");
  CLI::App& app = options().app();
  app.add_option("-o,--output", output_, "Directory to write")->type_name("DIR");
  auto* half = app.add_flag("--half", save_.half, "Store weights in half precision");
  app.add_flag("--bake-tables", bake_tables_,
               "Store products with embeddings, and whatever else is computed when a model is "
               "loaded, in the place of the weights that they come from")
      ->excludes(half);
  app.add_flag("--exact", compile_.exact,
               "With --bake-tables: only optimizations that keep every bit of a result");
  add_memory_option(app, compile_);
  add_frequency_option(app, frequency_);
  CLI::Option* texts = probes_.add_texts_to(app, "the model's own, or random words");
  app.add_flag("--no-probes", probes_.none, "Store no probe sentences")->excludes(texts);
  options().begin_group("Defaults for translating with the model");
  add_decode_options();
  shortlist_.add_to(app);
  options().accept_without_effect();
  // Accepts configurations for translating.
  std::vector<std::string> others;
  for (const OptionEntry& entry : option_table(make_translate_command()->options().app()))
    for (const std::string& name : entry.names)
      if (name.starts_with("--") && app.get_option_no_throw(name) == nullptr)
        others.push_back(name.substr(2));
  options().pass_over(std::move(others));
}

void ConvertCommand::add_decode_options() {
  for (const char* name : kDecodeOptions) {
    const std::string key = name;
    std::string names = "--" + key;
    if (key == "beam-size") names = "-b," + names;
    if (key == "normalize") names = "-n," + names;
    options()
        .app()
        .add_option_function<std::string>(
            names,
            [this, key](const std::string& value) {
              set_decode_default(decode_, key, value.empty() ? "1" : value, "--" + key);
            },
            "As for translate")
        ->expected(key == "normalize" ? 0 : 1, 1)
        ->type_name(key == "maxi-batch-sort" ? "ORDER" : "N")
        ->check(key == "maxi-batch-sort" ? sort_orders() : limits_of(key));
  }
}

int ConvertCommand::run() {
  common_.finish(options());
  for (const char* option : {"--exact", "--precompute-memory", "--frequency"})
    if (!bake_tables_ && options().given(option))
      throw Error(fmt::format("{} says which tables are baked; give --bake-tables too", option));
  if (output_.empty()) throw Error("give the directory to write with -o DIRECTORY");
  expect_replaceable(output_);

  const std::vector<std::string>& given = common_.vocabularies.paths;
  NamedModel loaded = load_named_models(
      common_.models, !given.empty(),
      [&](const std::string& name) { return decode_text(decode_, name).has_value(); });
  if (!common_.vocabularies.splitters.empty())
    loaded.model.splitters = common_.vocabularies.splitters;
  if (auto shortlist = shortlist_.given()) loaded.model.shortlist = *std::move(shortlist);
  const auto change = [&](Model& model, VocabularyPair& checked) {
    if (!bake_tables_) return;
    if (!frequency_.empty())
      compile_.ranks = add_word_ranks(model, checked, frequency_, checked.notes);
    // Results that become weights no longer tell the type of the matrix that they come from.
    const auto precision = decode_.precision ? decode_.precision : model.decode.precision;
    if (precision == Precision::stored) compile_.precision = precision;
    bake(model.graph, model.weights, compile_);
  };
  write_model(std::move(loaded), given, output_, decode_, save_, probes_, change);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace fuselage
