#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/extension.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/inspect/print.h"
#include "fuselage/ops/registry.h"
#include "tools/commands/commands.h"
#include "tools/options/device_options.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

class RunCommand : public Command {
 public:
  RunCommand();
  int run() override;

 private:
  std::string path_;
  CompileOptions compile_;
  std::string output_ = "stdout";
  bool print_after_all_ = false;
  std::vector<std::string> extensions_;
};

RunCommand::RunCommand()
    : Command("run", "Run optimizer passes on a graph in the text form, and print the result.",
              {{"fuselage run graph.ir --passes all,-attention",
                "All passes but one rule on a graph in the text form."}}) {
  CLI::App& app = options().app();
  options().begin_group("Input and output");
  app.add_option("GRAPH", path_, "A graph, or one program, as dump prints it")
      ->required()
      ->type_name("FILE");
  app.add_flag("--print-after-all", print_after_all_, "Print the graph behind each pass");
  app.add_option("-o,--output", output_, "Where to write")
      ->type_name("FILE")
      ->capture_default_str();
  add_extension_option(app, extensions_);
  options().begin_group(kOptimizerGroup);
  add_device_option(app, compile_);
  add_optimizer_options(app, compile_);
}

int RunCommand::run() {
  for (const std::string& extension : extensions_) load_extension(extension);
  const Graph graph = parse_graph(read_file(path_, kMaxGraphTextBytes), path_, all_ops());
  verify(graph);
  const History history = trace(graph, make_optimizer(compile_));
  OutputFile output(output_, {path_});
  for (const Stage& stage : history.stages) {
    if (!stage.is_pass()) continue;
    output.write(print_record(stage.record));
    if (print_after_all_) output.write(print_graph(stage.graph));
  }
  if (!print_after_all_ || history.optimizer.passes.empty())
    output.write(print_graph(history.optimized()));
  output.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace fuselage
