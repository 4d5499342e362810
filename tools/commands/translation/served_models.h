#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/base/log.h"
#include "server/models/served_model.h"

namespace fuselage {

/// Which models `fuselage serve` serves, and how.
struct ServedModelOptions {
  std::string model;      ///< path of one model; empty: the bundled ones, unless there is a folder
  std::string folder;     ///< path of a folder of models; empty: none
  std::string languages;  ///< "en-de": those of the one model; empty: as it states
  std::optional<std::size_t> n_best = {};  ///< nullopt: the beam size; without guides, 4
  bool alignment = false;                  ///< also on a GPU; on a CPU always
  std::vector<std::string> arguments;      ///< of `fuselage translate`
  Log log;
};

/// Opens them. Throws the errors of opening, and Error for a model whose languages are not known
/// and for a folder without models.
std::vector<OpenedModel> open_served_models(const ServedModelOptions& options);

}  // namespace fuselage
