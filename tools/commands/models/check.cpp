#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/self_check.h"
#include "tools/commands/commands.h"
#include "tools/commands/models/check_report.h"
#include "tools/options/device_options.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/named_models.h"
#include "tools/options/probe_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class CheckCommand : public Command {
 public:
  CheckCommand();
  int run() override;

 private:
  void add_numbers();
  void set_probes(Model& model) const;

  ModelChoice choice_;
  CheckOptions check_;
  std::vector<Precision> precisions_;
  ProbeOptions probes_;
  bool bisect_ = false, json_ = false;
};

CheckCommand::CheckCommand()
    : Command("check",
              "Tell whether a model computes what it did when it was converted: run its probe "
              "sentences, and compare words and scores with the stored ones. The exit status is 1 "
              "if a limit is exceeded.",
              {{"fuselage check my-model", "In fp32 and in the model's own precision."},
               {"fuselage check my-model --precision int8 --bisect",
                "In int8, and each node with the interpreter's results."}}) {
  CLI::App& app = options().app();
  options().begin_group(kModelGroup);
  choice_.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", check_.vocabularies.paths,
                 "Vocabularies in the place of the model's own")
      ->expected(1, 2)
      ->type_name("FILE");
  options().begin_group("Checks");
  probes_.add_texts_to(app, "the model's own");
  app.add_flag("--bisect", bisect_,
               "Name the first node with another result than the interpreter's");
  app.add_flag("--json", json_, "Print a JSON object with the numbers, limits and verdicts");
  options().begin_group(kOptimizerGroup);
  add_numbers();
}

void CheckCommand::add_numbers() {
  CLI::App& app = options().app();
  const auto set = [this](const std::vector<std::string>& names) {
    precisions_.clear();
    for (const std::string& name : names) precisions_.push_back(precision_from_string(name));
  };
  app.add_option_function<std::vector<std::string>>(
         "--precision", set, "Numbers in products with weights; fp16 needs a GPU")
      ->expected(1, static_cast<int>(precision_names().size()))
      ->type_name("FORMAT")
      ->check(one_of(precision_names()))
      ->default_str("the model's, and fp32 for weights in f32");
  const auto set_activations = [this](const std::string& name) {
    check_.compile.activations = activations_from_string(name);
  };
  app.add_option_function<std::string>("--activations", set_activations,
                                       "Accuracy of sigmoid and tanh, as for translate")
      ->type_name("KIND")
      ->check(one_of(activations_names()))
      ->default_str("the model's, or exact");
  add_kv_cache_option(app, check_.compile);
  add_backend_option(app, check_.compile);
  add_gpu_options(app, check_.compile);
}

/// Probes of the given text, or else the model's, or else new ones of random words.
void CheckCommand::set_probes(Model& model) const {
  if (probes_.texts.empty() && !model.probes.lines.empty()) return;
  for (const std::string& warning : probes_.make(model, check_.vocabularies.paths))
    print_note(warning);
  if (probes_.texts.empty())
    print_note(
        "the model has no probe sentences; other precisions are compared with fp32, for lines of "
        "random words");
}

int CheckCommand::run() {
  NamedModel loaded = load_named_models(choice_, !check_.vocabularies.paths.empty(),
                                        [](const std::string&) { return true; });
  Model& model = loaded.model;
  if (precisions_.empty()) precisions_ = precisions_to_check(model);
  for (const Precision precision : precisions_) {
    check_.compile.precision = precision;
    find_backend(check_.compile.backend).check(check_.compile);
  }
  set_probes(model);
  OutputFile report("stdout", loaded.files);
  if (!json_) report.write(check_table_head());
  std::vector<PrecisionCheck> checks;
  for (const Precision precision : precisions_) {
    check_.compile.precision = precision;
    PrecisionCheck& check = checks.emplace_back(PrecisionCheck{check_probes(model, check_)});
    check.failures = check.result.failures();
    if (!json_) report.write(check_table_row(check));
    if (bisect_) check.bisection = bisect_probes(model, check_);
  }
  if (json_) report.write(print_checks_json(loaded.path, checks));
  for (const PrecisionCheck& check : checks)
    if (!json_) report.write(check_table_notes(check));
  report.close();
  return std::ranges::all_of(checks, &PrecisionCheck::passes) ? 0 : 1;
}

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace fuselage
