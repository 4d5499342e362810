#include "models/marian_loader.h"

#include "base/error.h"
#include "models/marian_options.h"
#include "models/nematus_names.h"
#include "models/npz.h"
#include "models/parameters.h"
#include "models/s2s.h"
#include "models/transformer.h"

namespace fuselage {
namespace {

void build_architecture(Parameters& parameters, const MarianOptions& options) {
  if (options.type == "s2s" || options.type == "amun" || options.type == "nematus")
    build_s2s(parameters, options);
  else if (options.type == "transformer")
    build_transformer(parameters, options);
  else
    throw Error("type '{}' is not supported; it can be s2s, amun, nematus or transformer",
                options.type);
}

std::string model_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Model load_marian(const std::string& path, const MarianLoadOptions& options) {
  const NpzFile file = read_npz(path);
  if (file.config_yaml.empty())
    throw Error("{}: it has no configuration (special:model.yml), so its architecture is unknown",
                path);
  const MarianOptions config = parse_marian_options(file.config_yaml, path, options.ignore_unknown);
  const TensorMap tensors = rename_nematus_parameters(file.tensors, config);
  Builder builder(model_name(path));
  Parameters parameters(builder, tensors, path);
  try {
    build_architecture(parameters, config);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(path) != std::string::npos) throw;
    throw Error("{}: {}", path, message);
  }
  Model model;
  model.weights = parameters.take();
  model.graph = builder.take();
  model.right_left = config.right_left;
  return model;
}

}  // namespace fuselage
