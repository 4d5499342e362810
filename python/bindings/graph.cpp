#include "fuselage/graph/graph.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/backends/device.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/graph_runner.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/inspect/report.h"
#include "fuselage/inspect/stages.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "python/bindings/bindings.h"
#include "python/bindings/tensors.h"
#include "python/bindings/text.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace fuselage;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace {

using Weights = std::vector<std::pair<Text, Array>>;
using Rows = std::tuple<Text, Array, std::vector<std::int32_t>>;

TensorMap to_tensors(const Weights& weights) {
  TensorMap tensors;
  for (const auto& [name, array] : weights) tensors.emplace(name, to_tensor(array));
  return tensors;
}

CompileOptions compile_options(const std::string& device, const std::string& precision,
                               const std::string& passes, bool exact) {
  CompileOptions options;
  if (device == "reference")
    options.backend = device;
  else
    set_device(options, device);
  if (precision == "fp64")
    options.in_double = true;
  else
    options.precision = precision_from_string(precision);
  options.passes = passes;
  options.exact = exact;
  return options;
}

/// A compiled graph with its weights, and the time of its nodes.
class BoundRunner {
 public:
  BoundRunner(const Graph& graph, const Weights& weights, CompileOptions options, bool profile)
      : options_(profile ? with_profile(std::move(options)) : std::move(options)),
        history_(trace(graph, make_optimizer(options_))),
        runner_(graph, to_tensors(weights), options_) {}
  BoundRunner(const BoundRunner&) = delete;
  BoundRunner& operator=(const BoundRunner&) = delete;

  std::vector<std::tuple<std::string, nb::object, std::vector<std::int32_t>>> run(
      const std::vector<Rows>& inputs, std::size_t mini_batch) {
    std::vector<NamedRows> rows;
    for (const auto& [name, array, lengths] : inputs)
      rows.push_back({.name = name, .values = to_tensor(array), .lengths = lengths});
    std::vector<NamedRows> outputs;
    {
      const nb::gil_scoped_release released;
      outputs = runner_.run(rows, mini_batch);
    }
    std::vector<std::tuple<std::string, nb::object, std::vector<std::int32_t>>> results;
    for (const NamedRows& output : outputs)
      results.emplace_back(output.name, from_tensor(output.values), output.lengths);
    return results;
  }

  /// Program, node, seconds and runs of each node that has run.
  std::vector<std::tuple<std::string, std::string, double, std::uint64_t>> profile() const {
    if (options_.profile == nullptr)
      throw Error("the runner measures no times; compile the graph with profile=True");
    const Report report{.history = history_, .profile = profile_};
    std::vector<std::tuple<std::string, std::string, double, std::uint64_t>> times;
    for (const StageNode& node : nodes_of(report.history, report.history.stages.back()))
      if (const std::optional<MeasuredTime> measured = time_of(report, node);
          measured && measured->time.runs > 0)
        times.emplace_back(to_string(node.program.value_or(BindingTime::load)),
                           node.graph->describe(node.graph->node(node.id)), measured->time.seconds,
                           measured->time.runs);
    return times;
  }

 private:
  CompileOptions with_profile(CompileOptions options) {
    options.profile = &profile_;
    return options;
  }

  Profile profile_;
  CompileOptions options_;
  History history_;
  GraphRunner runner_;
};

/// Name, kind and whether it is needed, of each datum that the graph reads from its caller.
std::vector<std::tuple<std::string, std::string, bool>> inputs_of(const Graph& graph) {
  std::vector<std::tuple<std::string, std::string, bool>> inputs;
  for (const GraphInput& input : graph_inputs(graph)) {
    const char* const kind = input.kind == GraphInput::Kind::words     ? "words"
                             : input.kind == GraphInput::Kind::numbers ? "numbers"
                                                                       : "rows";
    inputs.emplace_back(input.name, kind, input.needed);
  }
  return inputs;
}

/// The shape of each parameter; a table has a row for each entry of its vocabulary.
std::map<std::string, Dims> parameters_of(const Graph& graph) {
  std::map<std::string, Dims> parameters;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = graph.value(node.results[0]).type;
    Dims shape = type.dims;
    if (type.domain != graph.none()) shape.insert(shape.begin(), graph.domain(type.domain).size);
    parameters.emplace(node.as<op::Param>().name, std::move(shape));
  }
  return parameters;
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph")
      .def_static(
          "parse",
          [](const Text& text, const Text& where) {
            auto graph = std::make_shared<Graph>(parse_graph(text.utf8(), where, all_ops()));
            verify(*graph);
            return graph;
          },
          "text"_a, "where"_a = "text")
      .def_prop_ro("name", &Graph::name)
      .def_prop_ro("inputs", inputs_of)
      .def_prop_ro("parameters", parameters_of)
      .def_prop_ro("outputs",
                   [](const Graph& self) {
                     std::vector<std::string> names;
                     for (const Output& output : self.outputs()) names.push_back(output.name);
                     return names;
                   })
      .def("text", [](const Graph& self) { return print_graph(self); })
      .def(
          "save",
          [](const Graph& self, const nb::bytes& directory, const Weights& weights,
             const std::vector<nb::bytes>& vocabularies) {
            const std::vector<std::string> paths = strings(vocabularies);
            const Model model = make_model(self, to_tensors(weights), paths);
            save_model_directory(model, paths, {directory.c_str(), directory.size()});
          },
          "directory"_a, "weights"_a, "vocabularies"_a);
  nb::class_<BoundRunner>(module, "Runner")
      .def(
          "__init__",
          [](BoundRunner* self, const Graph& graph, const Weights& weights, const Text& device,
             const Text& precision, const Text& passes, bool exact, bool profile) {
            new (self) BoundRunner(graph, weights,
                                   compile_options(device, precision, passes, exact), profile);
          },
          "graph"_a, "weights"_a, "device"_a, "precision"_a, "passes"_a, "exact"_a, "profile"_a)
      .def("run", &BoundRunner::run, "inputs"_a, "mini_batch"_a)
      .def("profile", &BoundRunner::profile);
}
