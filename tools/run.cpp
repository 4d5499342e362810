#include <fmt/format.h>

#include <string>
#include <vector>

#include "backends/compile.h"
#include "base/file.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "inspect/print.h"
#include "ops/registry.h"
#include "tools/commands.h"
#include "tools/device_options.h"
#include "tools/files.h"
#include "tools/model_options.h"

namespace fuselage {

int run_graph(const std::vector<std::string>& arguments) {
  std::string path;
  CompileOptions compile;
  std::string output_path = "stdout";
  bool print_after_all = false;
  Options options("run", "Run optimizer passes on a graph in the text form, and print the result.");
  CLI::App& app = options.app();
  app.add_option("GRAPH", path, "A graph, or one program, as dump prints it")->required();
  add_device_option(app, compile);
  add_optimizer_options(app, compile);
  app.add_flag("--print-after-all", print_after_all, "Print the graph behind each pass");
  app.add_option("-o,--output", output_path, "Where to write")->capture_default_str();
  if (!options.parse(arguments)) return 0;

  const Graph graph = parse_graph(read_file(path), path, all_ops());
  verify(graph);
  const History history = trace(graph, make_optimizer(compile));
  OutputFile output(output_path, {path});
  for (const Stage& stage : history.stages) {
    if (!stage.is_pass()) continue;
    output.write(print_record(stage.record));
    if (print_after_all) output.write(print_graph(stage.graph));
  }
  if (!print_after_all || history.optimizer.passes.empty())
    output.write(print_graph(history.optimized()));
  output.close();
  return 0;
}

}  // namespace fuselage
