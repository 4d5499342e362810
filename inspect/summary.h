#pragma once

#include <array>
#include <string>
#include <vector>

#include "backends/executable.h"
#include "inspect/stages.h"
#include "passes/workload.h"

namespace fuselage {

/// What one program is made of and costs. FLOP and bytes are those of the load program once, and of
/// the others for a sentence of the workload.
struct ProgramFigures {
  double nodes = 0;    ///< that compute something
  double kernels = 0;  ///< launched by one run; a view and a stored value are none
  double flop = 0, bytes = 0;
  double weight_bytes = 0;  ///< stored values that the program reads
  double arena_bytes = 0;   ///< for a batch of the workload
};

/// The three programs, by binding time.
using Figures = std::array<ProgramFigures, 3>;

/// Measures programs that run as planned, but for their arenas.
Figures measure(const Programs& programs, const ProgramPlans& plans, const Workload& workload);

/// The same with arenas, of programs as `executable` runs them.
Figures measure(const Programs& programs, const Executable& executable, const Workload& workload);

/// A node that does the work of several nodes of the raw graph.
struct Fusion {
  std::string key, node, op;
  std::vector<std::string> ops;    ///< of the raw nodes, in the order of its origins
  std::vector<std::string> rules;  ///< that touched it
};

/// Work that is done for other rows than in the raw graph.
struct Move {
  std::string key, node, op;
  std::string from, to;  ///< row domains; empty: no rows
  BindingTime from_time = BindingTime::load, to_time = BindingTime::load;
  double rows_before = 0, rows_after = 0;  ///< per sentence; at load, once
  std::vector<std::string> rules;
};

/// What the optimizer did, in figures.
struct Summary {
  Workload workload;
  Figures before, after;
  std::vector<Fusion> fusions;
  std::vector<Move> moves;
};

/// Compares the graph of the last pass with the raw one; the figures remain to be measured.
Summary summarize(const History& history, const Workload& workload = {});

/// A table of `before`, whose programs have had no passes, and `after`, then fusions and moves.
std::string print_summary(const Summary& summary);

}  // namespace fuselage
