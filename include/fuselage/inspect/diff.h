#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/inspect/stages.h"

namespace FUSELAGE_API fuselage {

/// A line that only one of two stages has.
struct DiffLine {
  bool added = false;  ///< false: removed
  std::string key;     ///< key of the node; empty for a declaration or an output
  std::string text;
  std::string note;  ///< provenance of an added node
};

/// The changes from one stage to another.
struct StageDiff {
  std::size_t added = 0, removed = 0;  ///< nodes
  std::size_t changed = 0;             ///< nodes that are in both and differ
  std::vector<DiffLine> lines;         ///< a removed line precedes its replacement
};

/// Compares declarations, nodes and outputs as text with labels for values, so that the order of
/// nodes does not matter.
StageDiff diff_stages(const History& history, const Stage& before, const Stage& after);

/// Lines that begin with "- " and "+ ", after a comment with the counts.
std::string print_diff(const StageDiff& diff, const Stage& before, const Stage& after);

}  // namespace fuselage
