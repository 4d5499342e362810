#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "decoding/lines/batching.h"
#include "decoding/lines/word_ranks.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/inspect/comparison.h"
#include "fuselage/inspect/diff.h"
#include "fuselage/inspect/explain.h"
#include "fuselage/inspect/json.h"
#include "fuselage/inspect/page.h"
#include "fuselage/inspect/picture.h"
#include "fuselage/inspect/print.h"
#include "fuselage/ops/registry.h"
#include "tools/commands/commands.h"
#include "tools/commands/graphs/dump_profile.h"
#include "tools/options/device_options.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"
#include "tools/options/sampling_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

struct DumpOptions {
  ModelChoice models;
  CompileOptions compile;
  std::string frequency;
  VocabularyPairOptions vocabularies;
  bool no_spm_encode = false;
  std::string program, stage;
  std::vector<std::string> diff, explain;
  bool only_changed = false, summary = false, time_passes = false, no_provenance = false;
  std::string profile;
  Profile times;  ///< times measured by --profile
  std::optional<std::size_t> mini_batch;
  std::string format = "text";
  std::string output = "stdout";
  std::optional<std::int32_t> beam_size;
  bool model_only = false;
  bool alignment = false;
  std::optional<Sampling> sampling;
  bool is_text = false;  ///< the graph is a text (.ir), without weights

  void add_to(Options& options);
  void add_views_to(CLI::App& app);
  /// Throws Error for options that exclude each other.
  void finish();
  /// Sets the options that are not given to the model's defaults.
  void apply(const DecodeDefaults& defaults);

  bool is_question() const { return !diff.empty() || !explain.empty(); }
  bool draws() const { return format == "dot" || format == "svg"; }
};

void DumpOptions::add_to(Options& options) {
  CLI::App& app = options.app();
  options.begin_group(kModelGroup);
  models.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", vocabularies.paths, "Source and target vocabulary for --profile")
      ->expected(2)
      ->type_name("FILE")
      ->default_str("the model's");
  options.begin_group("View");
  add_views_to(app);
  options.begin_group("Output");
  app.add_option("--format", format,
                 "dot is for Graphviz, svg is drawn by it, html is a page for a browser")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json", "dot", "svg", "html"}))
      ->capture_default_str();
  app.add_option("-o,--output", output, "Where to write")->type_name("FILE")->capture_default_str();
  options.begin_group("Search");
  add_number(app, "-b,--beam-size", beam_size, "Show the graph as a search with this beam needs it",
             range_of("beam-size"))
      ->default_str("the model's, or 12");
  add_number(app, "--mini-batch", mini_batch,
             "Sentences in a batch, for which the graph is optimized", range_of("mini-batch"))
      ->default_str("as is fastest; 1 for --profile");
  app.add_flag("--no-spm-encode", no_spm_encode, "The text is split into SentencePiece pieces");
  app.add_flag("--model-only", model_only, "Leave out what a search puts behind the model");
  app.add_flag("--alignment", alignment, "Show the graph as a search with --alignment needs it");
  add_sampling_option(app, sampling);
  options.begin_group(kOptimizerGroup);
  add_device_option(app, compile);
  add_optimizer_options(app, compile);
  add_frequency_option(app, frequency);
}

void DumpOptions::add_views_to(CLI::App& app) {
  app.add_option("--stage", stage,
                 "raw, the name of a pass for the graph behind it, or planned; or a regular "
                 "expression for all whose names fit")
      ->default_str("planned")
      ->type_name("STAGE");
  app.add_option("--program", program,
                 "One of the programs that the graph is cut into, all three, or the graph in one "
                 "piece (whole; the default for stages before planned)")
      ->type_name("NAME")
      ->check(one_of({"all", "load", "source", "step", "whole"}));
  app.add_flag("--only-changed", only_changed,
               "The raw graph, and the graph behind each pass that changed it");
  app.add_option("--diff", diff, "What changed from one stage to another, as lines")
      ->expected(2)
      ->type_name("STAGE")
      ->take_all();
  app.add_option("--explain", explain,
                 "RULE@NODE: why a rule was applied at a node, or which guard refused; RULE@* for "
                 "all nodes")
      ->type_name("RULE@NODE")
      ->expected(1)
      ->take_all();
  app.add_flag("--no-provenance", no_provenance,
               "Leave out of the text what nodes were made from, and by which rules");
  app.add_flag("--summary", summary, "Figures of the programs without passes and with them");
  app.add_flag("--time-passes", time_passes, "How long each pass took, and what it rewrote");
  app.add_option("--profile", profile,
                 "Translate this text, a sentence a line, and tell the time that nodes take")
      ->type_name("FILE");
}

void DumpOptions::finish() {
  const int views = (stage.empty() ? 0 : 1) + (only_changed ? 1 : 0) + (diff.empty() ? 0 : 1) +
                    (explain.empty() ? 0 : 1) + (summary ? 1 : 0) + (time_passes ? 1 : 0);
  if (!diff.empty() && diff.size() != 2)
    throw Error(fmt::format("--diff compares two stages, not {}", diff.size()));
  if (views > 1)
    throw Error(
        "--stage, --only-changed, --diff, --explain, --summary and --time-passes exclude each "
        "other");
  if (time_passes && format != "text")
    throw Error(fmt::format("--time-passes is text, not {}", format));
  if ((is_question() || summary) && (draws() || format == "html"))
    throw Error(fmt::format("--{} is text or json, not {}",
                            summary        ? "summary"
                            : diff.empty() ? "explain"
                                           : "diff",
                            format));
  if (!program.empty() && (is_question() || summary || (!draws() && format != "text")))
    throw Error("--program goes with the text, dot and svg of a stage");
  if (!profile.empty() && (is_question() || only_changed))
    throw Error("--profile goes with the stage 'planned', which has kernels");
  if (!profile.empty() && model_only)
    throw Error("--profile needs a search, and --model-only leaves it out");
  if (!profile.empty() && sampling)
    throw Error("--profile measures a search; leave --output-sampling out");
  if (!profile.empty()) compile.profile = &times;
  find_backend(compile.backend).check(compile);
  is_text = models.paths.size() == 1 && file_extension(models.paths[0]) == "ir";
  if (!is_text) return;
  if (!profile.empty() || !frequency.empty())
    throw Error(fmt::format("{} is a graph without weights; --{} needs a model", models.paths[0],
                            profile.empty() ? "frequency" : "profile"));
  model_only = true;
  if (program.empty() && format == "text" && !is_question() && !summary && !time_passes)
    program = "whole";
}

void DumpOptions::apply(const DecodeDefaults& defaults) {
  if (sampling) beam_size = 1;  // samples are searches of their own
  if (!beam_size) beam_size = defaults.beam_size.value_or(SearchOptions{}.beam_size);
  if (!mini_batch) mini_batch = defaults.mini_batch;
  if (!compile.precision) compile.precision = defaults.precision;
  if (!compile.activations) compile.activations = defaults.activations;
  if (!compile.kv_cache) compile.kv_cache = defaults.kv_cache;
}

/// One run of the command.
class Dump {
 public:
  Dump(const DumpOptions& options, Model model) : o_(options), model_(std::move(model)) {
    Graph graph = model_.graph;
    // One word more than the beam, since the unknown word is suppressed.
    std::int64_t k = *o_.beam_size + 1;
    if (!o_.profile.empty()) {
      VocabularyPairOptions vocabularies = o_.vocabularies;
      vocabularies.sentencepiece_encode = !o_.no_spm_encode;
      input_ = read_profile_input(model_, vocabularies, o_.profile, *o_.beam_size);
      k = BeamSearch::candidates_per_row(input_.search);
    }
    if (!o_.model_only)
      graph = with_search_head(graph, SearchHead::k_best,
                               {.k = k,
                                .alignment = o_.alignment,
                                .forbidden = model_.text.forbidden,
                                .sampling = o_.sampling,
                                .suppressed = model_.text.suppressed,
                                .renormalize = model_.decode.renormalize.value_or(false)});
    CompileOptions compile = o_.compile;
    if (!o_.frequency.empty()) {
      std::vector<std::string> notes;
      compile.ranks =
          add_word_ranks(model_, load_vocabularies(model_, o_.vocabularies), o_.frequency, notes);
    }
    report_.backend = &find_backend(compile.backend);
    const auto beam = static_cast<std::size_t>(*o_.beam_size);
    report_.workload = compile.workload = expected_workload(
        beam, batch_bounds({.mini_batch = o_.mini_batch}, report_.backend->fastest_batches(beam),
                           /*by_content=*/false));
    report_.history = trace(graph, make_optimizer(compile));
  }

  /// The report about the model that was read from `path`.
  const Report& report(const std::string& path) {
    report_.model = path;
    report_.provenance = !o_.no_provenance;
    choose_stages();
    if (!o_.profile.empty()) measure_time();
    if (o_.summary || o_.format == "html" || o_.format == "json") measure_programs();
    return report_;
  }

  std::string text(const std::string& path) {
    if (!o_.diff.empty()) return diff();
    if (!o_.explain.empty()) return explanation();
    report(path);
    if (o_.format == "html") return print_page(report_);
    if (o_.format == "json") return print_json(report_);
    if (o_.time_passes) return print_pass_times(history());
    if (o_.summary) return print_summary(*report_.summary);
    return o_.draws() ? picture() : print();
  }

 private:
  const History& history() const { return report_.history; }
  const Stage& stage(std::size_t number) const { return history().stages[number]; }

  const Stage& only_stage(const std::string& name) const {
    const std::vector<std::size_t> found = find_stages(history(), name);
    if (found.size() > 1)
      throw Error(fmt::format("'{}' fits {} stages, {} and {} among them; name one", name,
                              found.size(), stage(found[0]).name, stage(found[1]).name));
    return stage(found[0]);
  }

  std::string diff() const {
    const Stage& before = only_stage(o_.diff[0]);
    const Stage& after = only_stage(o_.diff[1]);
    const StageDiff changes = diff_stages(history(), before, after);
    return o_.format == "json" ? print_json(changes, before, after)
                               : print_diff(changes, before, after);
  }

  std::string explanation() const {
    std::vector<Verdict> verdicts;
    for (const std::string& question : o_.explain)
      for (Verdict& verdict : fuselage::explain(history(), question))
        verdicts.push_back(std::move(verdict));
    return o_.format == "json" ? print_json(verdicts) : print_verdicts(verdicts);
  }

  /// Chooses the stages to show; the page shows all.
  void choose_stages() {
    const std::size_t count = history().stages.size();
    for (std::size_t i = 0; i < count; ++i)
      if (o_.format == "html" || (o_.only_changed && (i == 0 || stage(i).record.changed)))
        report_.stages.push_back(i);
    if (o_.format != "html" && !o_.only_changed && !o_.summary)
      report_.stages = find_stages(history(), o_.stage.empty() ? "planned" : o_.stage);
  }

  Part part(const Stage& shown) const {
    if (!o_.program.empty()) return part_of(o_.program);
    return shown.planned ? Part::all : Part::whole;
  }

  void measure_time() {
    const auto executable =
        report_.backend->compile(history().optimized(), model_.weights, o_.compile);
    run_profile(*executable, input_, o_.mini_batch.value_or(1));
    report_.profile = o_.times;
  }

  void measure_programs() {
    report_.plan = plan_programs(history().programs, *report_.backend);
    report_.summary = summarize(history(), report_.workload);
    report_.summary->before = figures_of(history().raw());
    report_.summary->after = figures_of(history().optimized());
    report_.summary->reference_nodes = find_reference_nodes(history(), report_.plan);
  }

  /// Figures of a graph. Arenas are measured by running the model, and left out if that needs a
  /// GPU, or weights that there are not.
  Figures figures_of(const Graph& graph) const {
    const Programs programs = split_by_binding_time(graph);
    const Workload& workload = report_.summary->workload;
    if (report_.backend->capabilities().needs_gpu || o_.is_text)
      return measure(programs, plan_programs(programs, *report_.backend), workload);
    return measure(programs, *report_.backend->compile(graph, model_.weights, {}), workload);
  }

  std::string picture() const {
    if (o_.format == "svg" && report_.stages.size() > 1)
      throw Error(fmt::format("'{}' fits {} stages, and svg shows one; name one", o_.stage,
                              report_.stages.size()));
    std::string result;
    for (const std::size_t number : report_.stages) {
      const Stage& shown = stage(number);
      const Part choice = part(shown);
      // A stage before "planned" has one picture, with a frame for each binding time.
      const std::string dot = print_stage_dot(report_, shown, choice);
      result += o_.format == "svg" ? render_svg(dot) : dot;
    }
    return result;
  }

  std::string print() const {
    std::string result;
    // Before the stage "planned", print the records of all passes; before another, its pass's only.
    const bool all = report_.stages.size() == 1 && stage(report_.stages[0]).planned;
    if (all)
      for (const Stage& each : history().stages)
        if (each.is_pass()) result += print_record(each.record);
    if (report_.profile)
      result += fmt::format("# measured: {:.1f} ms in {} batches and {} steps\n",
                            1e3 * measured_seconds(*report_.profile), report_.profile->batches,
                            report_.profile->steps);
    for (const std::size_t number : report_.stages) {
      const Stage& shown = stage(number);
      if (!all) result += fmt::format("# stage {}\n", shown.name);
      if (!all && shown.is_pass()) result += print_record(shown.record);
      result += print_stage(report_, shown, part(shown));
    }
    return result;
  }

  const DumpOptions& o_;
  Model model_;
  ProfileInput input_;
  Report report_;
};

class DumpCommand : public Command {
 public:
  DumpCommand()
      : Command("dump",
                "Show the graph of a model or of a text, and what the optimizer makes of it.",
                {{"fuselage dump --summary", "Figures of the bundled model's programs."},
                 {"fuselage dump --format html -o page.html", "A page for a browser."},
                 {"fuselage dump graph.ir --passes all,-attention",
                  "All passes but one rule on a graph in the text form."},
                 {"fuselage dump --explain 'merge_states@*'",
                  "Where a rule was applied, and which guard refused elsewhere."},
                 {"fuselage dump --summary --against --precision fp32",
                  "Figures of the programs with two settings."}}) {
    o_.add_to(options());
    options().begin_group("View");
    options().keep_rest_behind("--against",
                               "Compare with another model or other options, which follow: "
                               "--against --precision int8");
  }
  int run() override;

 private:
  int compare();

  DumpOptions o_;
};

/// A graph in the text form, as a model without weights.
NamedModel load_text_graph(const ModelChoice& choice) {
  for (const std::string& extension : choice.extensions) load_extension(extension);
  const std::string& path = choice.paths[0];
  NamedModel named;
  named.model.graph = parse_graph(read_file(path, kMaxGraphTextBytes), path, all_ops());
  verify(named.model.graph);
  named.path = path;
  named.files = {path};
  return named;
}

/// The model that a dump shows, whose defaults apply.
NamedModel load_shown_model(DumpOptions& o, const IsDecided& is_decided) {
  NamedModel loaded = o.is_text
                          ? load_text_graph(o.models)
                          : load_named_models(o.models, !o.vocabularies.paths.empty(), is_decided);
  o.apply(loaded.model.decode);
  return loaded;
}

/// The files that a dump reads.
std::vector<std::string> inputs_of(const DumpOptions& o, std::vector<std::string> model_files) {
  model_files.insert(model_files.end(), o.vocabularies.paths.begin(), o.vocabularies.paths.end());
  for (const std::string& path : {o.profile, o.frequency})
    if (!path.empty()) model_files.push_back(path);
  return model_files;
}

int DumpCommand::run() {
  if (options().given("--against")) return compare();
  o_.finish();
  NamedModel loaded = load_shown_model(o_, decided_by(options()));
  Dump dump(o_, std::move(loaded.model));
  // An error leaves a file as it was.
  const std::string text = dump.text(loaded.path);
  OutputFile output(o_.output, inputs_of(o_, std::move(loaded.files)));
  output.write(text);
  output.close();
  return 0;
}

int DumpCommand::compare() {
  const bool is_shown = o_.format == "text" ? o_.summary : !o_.draws();
  if (!is_shown || o_.is_question() || o_.only_changed || o_.time_passes || !o_.program.empty())
    throw Error("--against goes with --summary, or with --format json or html alone");
  const std::string text = fmt::format("{}", fmt::join(options().rest(), " "));
  if (text.empty())
    throw Error("--against compares with the arguments behind it; give a model or an option");
  // Options that are not given there are as here.
  DumpOptions other = o_;
  Options arguments("dump … --against", "The dump to compare with.");
  other.add_to(arguments);
  if (!arguments.parse(options().rest())) return 0;
  for (const char* name :
       {"--stage", "--diff", "--explain", "--summary", "--time-passes", "--format", "--output"})
    if (arguments.given(name))
      throw Error(fmt::format("{} is for both sides; give it before --against", name));
  o_.finish();
  other.finish();
  const IsDecided here = decided_by(options()), there = decided_by(arguments);
  NamedModel left = load_shown_model(o_, here);
  NamedModel right =
      load_shown_model(other, [&](const std::string& name) { return here(name) || there(name); });
  Dump left_dump(o_, std::move(left.model)), right_dump(other, std::move(right.model));
  std::vector<std::string> inputs = inputs_of(o_, std::move(left.files));
  for (std::string& path : inputs_of(other, std::move(right.files)))
    inputs.push_back(std::move(path));
  const Comparison comparison{.left = left_dump.report(left.path),
                              .right = right_dump.report(right.path),
                              .left_title = left.path,
                              .right_title = fmt::format("{} ({})", right.path, text)};
  const std::string compared = o_.summary            ? print_comparison(comparison)
                               : o_.format == "json" ? print_comparison_json(comparison)
                                                     : print_comparison_page(comparison);
  OutputFile output(o_.output, inputs);
  output.write(compared);
  output.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_dump_command() { return std::make_unique<DumpCommand>(); }

}  // namespace fuselage
