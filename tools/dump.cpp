#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "backends/compile.h"
#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "decoding/search_head.h"
#include "graph/text.h"
#include "graph/traversal.h"
#include "passes/split_by_binding_time.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/model_options.h"

namespace fuselage {
namespace {

struct DumpOptions {
  std::vector<std::string> models;
  std::string program = "all";
  CompileOptions compile;
  std::string format = "text";
  std::string output = "stdout";
  std::int64_t beam_size = 12;
  bool model_only = false;
  bool ignore_unknown = false;

  void add_to(Options& options);
};

void DumpOptions::add_to(Options& options) {
  CLI::App& app = options.app();
  app.add_option("MODEL,-m,--models,--model", models,
                 "A Marian .npz file or a model directory (default: the bundled model)");
  app.add_option("--program", program,
                 "One of the programs that the graph is cut into (load, source, step), all three, "
                 "or the graph in one piece (whole)")
      ->check(CLI::IsMember({"all", "load", "source", "step", "whole"}))
      ->capture_default_str();
  add_optimizer_options(app, compile);
  app.add_option(
         "--format", format,
         "text, or dot for Graphviz; as text, one program or the graph in one piece can be read "
         "back, all three programs are for reading")
      ->check(CLI::IsMember({"text", "dot"}))
      ->capture_default_str();
  app.add_option("-b,--beam-size", beam_size, "Show the graph as a search with this beam needs it")
      ->check(limits_of("beam-size"))
      ->capture_default_str();
  app.add_flag("--model-only", model_only, "Leave out what a search puts behind the model");
  app.add_option("-o,--output", output, "Where to write")->capture_default_str();
  app.add_flag("--ignore-unknown-config", ignore_unknown,
               "Go on past configuration keys that are unknown or not supported");
}

/// What the passes did, and what they refused to do and why, as comments.
std::string describe_passes(const std::vector<PassRecord>& records) {
  std::string text;
  for (const PassRecord& record : records) {
    text += fmt::format("# pass {}: {}", record.name, record.changed ? "changed" : "no change");
    for (const auto& [rule, count] : record.rewrites) text += fmt::format(", {} × {}", rule, count);
    text += '\n';
    for (const Refusal& refusal : record.refusals)
      text += fmt::format("#   {} refused at {}: {} ({})\n", refusal.rule, refusal.node,
                          refusal.reason, refusal.guard);
    if (!record.skipped.empty())
      text += fmt::format("#   not allowed: {}\n", fmt::join(record.skipped, ", "));
  }
  return text;
}

void write_graph(OutputFile& output, const Graph& graph, const DumpOptions& o) {
  const auto render = [&](const Graph& part, std::function<std::string(NodeId)> comment) {
    output.write(o.format == "dot" ? to_graphviz(part)
                                   : print_graph(part, {.comment = std::move(comment)}));
  };
  if (o.program == "whole") {
    render(graph, [&](NodeId id) { return std::string(to_string(graph.binding(id))); });
    return;
  }
  const Programs programs = split_by_binding_time(graph);
  for (const BindingTime time : {BindingTime::load, BindingTime::source, BindingTime::step}) {
    if (o.program != "all" && o.program != to_string(time)) continue;
    output.write(fmt::format("{} program {}\n", o.format == "dot" ? "//" : "#", to_string(time)));
    const Graph& part = program(programs, time);
    render(part, [&](NodeId id) { return describe_kernel(part, id); });
  }
}

}  // namespace

int run_dump(const std::vector<std::string>& arguments) {
  DumpOptions o;
  Options options("dump", "Show the graph of a model, and what the optimizer makes of it.");
  o.add_to(options);
  if (!options.parse(arguments)) return 0;

  std::string path;
  const LoadedModel loaded = load_named_model(o.models, o.ignore_unknown, path);
  options.apply_defaults(loaded.decode_options, path);
  Graph graph = loaded.model.graph;
  // One word more than the beam, since the unknown word is passed over.
  if (!o.model_only) graph = with_search_head(graph, SearchHead::k_best, o.beam_size + 1);
  const std::vector<PassRecord> records = optimize(graph, o.compile);

  OutputFile output(o.output, files_of(path, loaded));
  if (o.format == "text") output.write(describe_passes(records));
  write_graph(output, graph, o);
  output.close();
  return 0;
}

}  // namespace fuselage
