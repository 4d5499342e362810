#include "fuselage/models/load_model.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/directory/model_directory.h"
#include "models/finite_weights.h"

namespace fuselage {

Model load_model(const std::string& path, const LoadOptions& options) {
  if (!is_model_directory(path))
    throw Error(fmt::format(
        "{}: this build loads model directories only; make one with the command fuselage convert",
        path));
  if (options.random_weights)
    throw Error(fmt::format("{} has weights of its own; ask for no random ones", path));
  Model model = load_model_directory(path, options);
  expect_finite(model.weights, path);
  return model;
}

std::string find_bundled_model(std::string_view, std::string_view) {
  throw Error("this build has no bundled model; give the path of a model directory");
}

}  // namespace fuselage
