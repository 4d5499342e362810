#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/self_check.h"
#include "tools/commands/commands.h"
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
  bool bisect_ = false;
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

std::string print_row(const CheckResult& result) {
  return fmt::format("{:<9}  {:>4} of {:<4}  {:>10.2g}  {:>13.2g}  {}\n",
                     to_string(*result.compile.precision), result.same_words(),
                     result.probes.size(), result.mean_drift, result.largest_drift,
                     result.failures().empty() ? "ok" : "FAILS");
}

std::string print_bisection(const Bisection& found, Precision precision) {
  const NodeComparison& comparison = found.comparison;
  if (!comparison.difference)
    return fmt::format("{}: {} nodes are the same as the interpreter's; {} are not comparable\n",
                       to_string(precision), comparison.compared, comparison.skipped);
  const NodeDifference& d = *comparison.difference;
  return fmt::format(
      "{}: {} differs from the interpreter's\n"
      "  {:.9g} instead of {:.9g} at column {} of row {} of sentence {}, after {} word{}\n"
      "  it comes from {}{}{}; before it {} nodes are the same\n",
      to_string(precision), d.node, d.value, d.reference, d.column + 1, d.row + 1, d.sentence + 1,
      found.steps, found.steps == 1 ? "" : "s", d.origins, d.rules.empty() ? "" : " by ", d.rules,
      comparison.compared);
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
  report.write("precision   same words  mean drift  largest drift  verdict\n");
  std::string below;
  bool fails = false;
  for (const Precision precision : precisions_) {
    check_.compile.precision = precision;
    const CheckResult result = check_probes(model, check_);
    report.write(print_row(result));
    for (const std::string& failure : result.failures())
      below += fmt::format("{}: {}\n", to_string(precision), failure);
    fails |= !result.failures().empty();
    if (!bisect_) continue;
    const Bisection found = bisect_probes(model, check_);
    below += print_bisection(found, precision);
    fails |= found.comparison.difference.has_value();
  }
  report.write(below);
  report.close();
  return fails ? 1 : 0;
}

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace fuselage
