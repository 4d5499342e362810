#include "models/marian/marian_loader.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/marian_options.h"
#include "models/architectures/parameters.h"
#include "models/architectures/s2s.h"
#include "models/architectures/transformer.h"
#include "models/formats/marian_bin.h"
#include "models/formats/npz.h"
#include "models/marian/nematus_names.h"

namespace fuselage {
namespace {

void build_architecture(Parameters& parameters, const MarianOptions& options) {
  if (options.type == "s2s" || options.type == "amun" || options.type == "nematus")
    build_s2s(parameters, options);
  else if (options.type == "transformer")
    build_transformer(parameters, options);
  else
    throw Error(fmt::format("type {} is not supported; it can be s2s, amun, nematus or transformer",
                            in_quotes(options.type)));
}

/// Throws Error if the configuration's streams or vocabulary sizes differ from the graph's.
void check_streams(const Graph& graph, const MarianOptions& options) {
  for (const std::string& type : options.input_types)
    if (type != "sequence")
      throw Error(fmt::format(
          "input-types has {}, which is not supported; inputs must be sequences", in_quotes(type)));
  std::vector<std::int64_t> sizes;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i}); map.kind == MapKind::word)
      sizes.push_back(graph.domain(map.to).size);
  const std::vector<std::int64_t>& stated = options.dim_vocabs;
  for (std::size_t i = 0; i < stated.size(); ++i)
    if (stated[i] != 0 && (i >= sizes.size() || stated[i] != sizes[i]))
      throw Error(fmt::format("dim-vocabs is {}, but the embeddings have {} rows",
                              shape_to_string(stated), shape_to_string(sizes)));
}

struct StoredModel {
  TensorMap tensors;
  std::string config_yaml;
};

StoredModel read_stored(const std::string& path) {
  if (file_extension(path) == "bin") {
    MarianBinFile file = read_marian_bin(path);
    return {std::move(file.tensors), std::move(file.config_yaml)};
  }
  NpzFile file = read_npz(path);
  return {std::move(file.tensors), std::move(file.config_yaml)};
}

std::string model_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Model load_marian(const std::string& path, const MarianLoadOptions& options) {
  StoredModel file = read_stored(path);
  if (file.config_yaml.empty())
    throw Error(fmt::format(
        "{}: it has no configuration (special:model.yml), so its architecture is unknown", path));
  const MarianOptions config = parse_marian_options(file.config_yaml, path, options.ignore_unknown);
  // Calibration's record of products without a weight; nothing uses it.
  file.tensors.erase("none_QuantMultA");
  const TensorMap tensors = rename_nematus_parameters(file.tensors, config);
  Builder builder(model_name(path));
  Parameters parameters(builder, tensors, path);
  try {
    build_architecture(parameters, config);
    if (!options.ignore_unknown) check_streams(builder.graph(), config);
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
  Model model;
  model.weights = parameters.take();
  model.graph = builder.take();
  model.right_left = config.right_left;
  return model;
}

}  // namespace fuselage
