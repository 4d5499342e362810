#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/files/file.h"
#include "fuselage/backends/backend.h"
#include "fuselage/backends/compare_with_reference.h"
#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/load_model.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "models/formats/match_weights.h"
#include "models/formats/npz.h"
#include "tools/commands/commands.h"
#include "tools/commands/graphs/run_inputs.h"
#include "tools/commands/graphs/run_outputs.h"
#include "tools/options/device_options.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class RunCommand : public Command {
 public:
  RunCommand();
  int run() override;

 private:
  struct Loaded {
    Graph graph;
    TensorMap weights;
  };

  void add_files();
  Loaded load();
  std::vector<std::string> files_read() const;
  int compare(const Loaded& loaded, std::span<const NamedRows> rows) const;

  std::string path_, weights_;
  std::vector<std::string> inputs_, vocabularies_;
  std::vector<NamedFile> input_files_, vocabulary_files_;
  CompileOptions compile_;
  std::size_t mini_batch_ = 0;
  std::string output_ = "stdout";
  std::string compare_;
  double tolerance_ = 1e-4;
  std::vector<std::string> extensions_;
};

RunCommand::RunCommand()
    : Command("run", "Evaluate a graph on given inputs.",
              {{"fuselage run model.npz --input source.word=source.ids --input hyp.word=last.ids "
                "-o y.npz",
                "The outputs of a model, whose steps follow given words."},
               {"fuselage run model.npz --input source.word=source.ids --input hyp.word=last.ids "
                "--compare reference",
                "The first node with another result than the reference's."}}) {
  CLI::App& app = options().app();
  options().begin_group("Input and output");
  add_files();
  options().begin_group("Checks");
  app.add_option("--compare", compare_,
                 "Print the first node whose result differs from the reference back-end's")
      ->check(one_of({"reference"}))
      ->type_name("BACKEND");
  add_number(app, "--tolerance", tolerance_,
             "Largest difference for --compare, relative to the larger number and 1",
             {0, 1e30, false});
  options().begin_group(kOptimizerGroup);
  add_backend_option(app, compile_);
  add_gpu_options(app, compile_);
  add_number(app, "--mini-batch", mini_batch_, "Most sentences in a batch", range_of("mini-batch"))
      ->default_str("as is fastest");
  add_optimizer_options(app, compile_);
}

void RunCommand::add_files() {
  CLI::App& app = options().app();
  app.add_option("GRAPH", path_, "A graph in the text form, a model, or the name of a bundled one")
      ->required()
      ->type_name("FILE");
  app.add_option("--weights", weights_, "The parameters: .safetensors or .npz")
      ->type_name("FILE")
      ->default_str("the model's");
  app.add_option("--input", inputs_,
                 "Rows of a word map or an input: .npz with NAME and NAME.lengths, .npy for one "
                 "sequence, or text with a sentence a line")
      ->expected(1)
      ->take_all()
      ->type_name("NAME=FILE");
  app.add_option("--vocab", vocabularies_, "Vocabulary of the words in the text of an input")
      ->expected(1)
      ->take_all()
      ->type_name("NAME=FILE");
  app.add_option("-o,--output", output_, "An .npz file, or .npy for one output; else a table")
      ->type_name("FILE")
      ->capture_default_str();
  add_extension_option(app, extensions_);
}

std::vector<std::string> RunCommand::files_read() const {
  std::vector<std::string> files{path_};
  if (!weights_.empty()) files.push_back(weights_);
  for (const NamedFile& file : input_files_) files.push_back(file.path);
  for (const NamedFile& file : vocabulary_files_) files.push_back(file.path);
  return files;
}

bool is_model(const std::string& path) {
  std::error_code error;
  const std::string extension = std::filesystem::path(path).extension();
  return std::filesystem::is_directory(path, error) || extension == ".npz" || extension == ".bin" ||
         extension == ".yml" || extension == ".yaml";
}

TensorMap read_weights(const std::string& path) {
  return file_extension(path) == "npz" ? read_npz(path).tensors : read_safetensors(path);
}

RunCommand::Loaded RunCommand::load() {
  path_ = model_path(path_);
  Loaded loaded;
  if (is_model(path_)) {
    Model model = load_model(path_);
    loaded = {std::move(model.graph), std::move(model.weights)};
    if (!compile_.precision) compile_.precision = model.decode.precision;
    if (!compile_.activations) compile_.activations = model.decode.activations;
    if (!compile_.kv_cache) compile_.kv_cache = model.decode.kv_cache;
  } else {
    loaded.graph = parse_graph(read_file(path_, kMaxGraphTextBytes), path_, all_ops());
    verify(loaded.graph);
  }
  if (!weights_.empty()) {
    loaded.weights = match_weights(loaded.graph, read_weights(weights_), weights_, path_);
  } else if (!is_model(path_)) {
    for (const NodeId id : loaded.graph.nodes())
      if (const Node& node = loaded.graph.node(id); node.has(Trait::external))
        throw Error(fmt::format("{}: {} needs weights; give their file with --weights", path_,
                                loaded.graph.describe(node)));
  }
  return loaded;
}

/// Throws Error if the file to write is one of those that are read.
void expect_other_file(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(output, input, error))
      throw Error(fmt::format("{} is input and output at once", output));
  }
}

int RunCommand::compare(const Loaded& loaded, std::span<const NamedRows> rows) const {
  const NodeComparison result = compare_with_reference(
      loaded.graph, loaded.weights, compile_, rows, NodeTolerances::all(tolerance_), mini_batch_);
  OutputFile report("stdout", files_read());
  if (!result.difference) {
    report.write(fmt::format("the same in {} nodes; {} are not comparable\n", result.compared,
                             result.skipped));
  } else {
    const NodeDifference& d = *result.difference;
    report.write(
        fmt::format("{} differs: {:.9g} instead of {:.9g} at column {} of row {} of sentence {}\n"
                    "it comes from {}; before it {} nodes are the same\n",
                    d.node, d.value, d.reference, d.column + 1, d.row + 1, d.sentence + 1,
                    d.origins, result.compared));
  }
  report.close();
  return result.difference ? 1 : 0;
}

int RunCommand::run() {
  for (const std::string& input : inputs_)
    input_files_.push_back(parse_named_file(input, "--input"));
  for (const std::string& vocabulary : vocabularies_)
    vocabulary_files_.push_back(parse_named_file(vocabulary, "--vocab"));
  for (const std::string& extension : extensions_) load_extension(extension);
  find_backend(compile_.backend).check(compile_);
  const bool is_written = output_ != "stdout" && output_ != "-";
  if (is_written) expect_other_file(output_, files_read());
  const Loaded loaded = load();
  if (is_written) expect_array_file(output_, loaded.graph.outputs().size());
  const std::vector<NamedRows> rows =
      read_run_inputs(graph_inputs(loaded.graph), input_files_, vocabulary_files_);
  if (!compare_.empty()) {
    const int status = compare(loaded, rows);
    if (!is_written || status != 0) return status;
  }
  GraphRunner runner(loaded.graph, loaded.weights, compile_);
  const std::vector<NamedRows> outputs = runner.run(rows, mini_batch_);
  if (is_written) {
    write_outputs(output_, outputs);
    return 0;
  }
  OutputFile table(output_, files_read());
  table.write(print_outputs(outputs));
  table.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace fuselage
