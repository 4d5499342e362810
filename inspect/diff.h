#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/stages.h"

namespace fuselage {

/// A line that one of two stages has and the other has not.
struct DiffLine {
  bool added = false;  ///< else removed
  std::string key;     ///< of the node; empty for what is no node
  std::string text;
  std::string note;  ///< provenance of what is added
};

/// What changed from one stage to another.
struct StageDiff {
  std::size_t added = 0, removed = 0;  ///< nodes
  std::size_t changed = 0;             ///< nodes that are in both and differ
  std::vector<DiffLine> lines;         ///< what goes stands before what takes its place
};

/// Compares declarations, nodes and outputs as text in which values have their labels, so that the
/// order of nodes makes no difference.
StageDiff diff_stages(const History& history, const Stage& before, const Stage& after);

/// Lines that begin with "- " and "+ ", under a comment with the counts.
std::string print_diff(const StageDiff& diff, const Stage& before, const Stage& after);

}  // namespace fuselage
