#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fuselage {

/// The lines of a text, of which probes are made. Throws Error for a text without lines or with
/// more than a model may have, and when it cannot be read.
std::vector<std::string> read_probe_lines(const std::string& path);

/// Which probes a written model gets.
struct ProbeOptions {
  std::string text;   ///< path; empty: the model's own, or of random words
  bool none = false;  ///< no probes

  void add_to(CLI::App& app);
};

}  // namespace fuselage
