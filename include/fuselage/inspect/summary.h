#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/base/api.h"
#include "fuselage/inspect/stages.h"
#include "fuselage/passes/workload.h"

namespace FUSELAGE_API fuselage {

/// Size and cost of one program. FLOP and bytes are for one run of the load program, and per
/// sentence of the workload for the other programs.
struct ProgramFigures {
  double nodes = 0;    ///< number of nodes that compute something
  double kernels = 0;  ///< kernels launched by one run; views and stored values launch none
  double flop = 0, bytes = 0;
  double weight_bytes = 0;  ///< bytes of the stored values that the program reads
  double arena_bytes = 0;   ///< bytes of the arena for a batch of the workload
};

/// The three programs, by binding time.
using Figures = std::array<ProgramFigures, 3>;

/// The figures of planned programs, without their arenas.
Figures measure(const Programs& programs, const ProgramPlans& plans, const Workload& workload);

/// The figures of programs that `executable` runs, with arenas.
Figures measure(const Programs& programs, const Executable& executable, const Workload& workload);

/// A node that does the work of several nodes of the raw graph.
struct Fusion {
  std::string key, node, op;
  std::vector<std::string> ops;    ///< ops of the raw nodes, in the order of its origins
  std::vector<std::string> rules;  ///< rules in its provenance
};

/// A node whose work has another row domain than in the raw graph.
struct Move {
  std::string key, node, op;
  std::string from, to;  ///< row domains; empty: no rows
  BindingTime from_time = BindingTime::load, to_time = BindingTime::load;
  double rows_before = 0, rows_after = 0;  ///< per sentence; at load, in total
  std::vector<std::string> rules;
};

/// A node of a program that runs by its op's reference evaluation, which is slow.
struct ReferenceNode {
  std::string key, node, op;
  BindingTime program = BindingTime::load;
};

/// The effect of the optimizer in figures.
struct Summary {
  Workload workload;
  Figures before, after;
  std::vector<Fusion> fusions;
  std::vector<Move> moves;
  std::vector<ReferenceNode> reference_nodes;
};

/// The nodes of the optimized source and step programs that `plans` run by the reference
/// evaluation. The load program runs once, so that it does not matter there.
std::vector<ReferenceNode> find_reference_nodes(const History& history, const ProgramPlans& plans);

/// Compares the graph of the last pass with the raw graph. The caller sets the figures and the
/// reference nodes.
Summary summarize(const History& history, const Workload& workload = {});

/// A table of two sets of figures with their ratios.
std::string print_figures(const Figures& left, const Figures& right, const Workload& workload,
                          std::string_view left_title, std::string_view right_title);

/// A line for each fusion, move and reference node.
std::vector<std::string> findings_of(const Summary& summary);

/// A table of the figures without passes (`before`) and with passes (`after`), then fusions, moves
/// and reference nodes.
std::string print_summary(const Summary& summary);

}  // namespace fuselage
