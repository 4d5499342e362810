#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "fuselage/base/shortlist_options.h"

namespace fuselage {

/// The choice of a shortlist on a command line.
class ShortlistChoice {
 public:
  /// Registers --shortlist, with marian-decoder's values, and --no-shortlist.
  void add_to(CLI::App& app);

  /// Registers --shortlist-union.
  void add_union_to(CLI::App& app);

  /// The shortlist that is given, with an empty path for none; nullopt: the model's own counts.
  std::optional<ShortlistOptions> given() const;

  /// The file of --shortlist; empty: not given.
  const std::string& path() const { return given_.path; }

  bool union_of_batch() const { return given_.union_of_batch; }

 private:
  ShortlistOptions given_;
  bool none_ = false;
};

}  // namespace fuselage
