#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "fuselage/models/model.h"

namespace fuselage {

/// The probe sentences that a user chooses for a model.
struct ProbeOptions {
  std::vector<std::string> texts;  ///< paths: of a source text, and of its translation if known
  bool none = false;               ///< the model gets none

  /// Registers `--probes`. `fallback` says whose lines are used without it.
  CLI::Option* add_texts_to(CLI::App& app, const std::string& fallback);

  /// Gives the model the probes of the texts, or of random words without texts. Returns a warning
  /// if translations are given and the model gains little from their sources. Throws Error for
  /// texts that cannot be read, are too long or are of different lengths, and as make_probes does.
  std::vector<std::string> make(Model& model, const std::vector<std::string>& vocabularies) const;
};

}  // namespace fuselage
