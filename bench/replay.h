#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/search_task.h"
#include "bench/trace.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/executable.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Options for a precision, "int8", which may be followed by activations, "int8:table", and by a
/// type of keys and values, "int8:kv-int8".
CompileOptions numbers_from_string(const std::string& text);

/// The trace of a search that translates the task's text.
Trace record_search(const Model& model, const SearchTask& task);

struct Seconds {
  double source = 0, step = 0;
  double whole() const { return source + step; }
};

/// Scores and words of every row of a replay.
struct Outputs {
  std::vector<float> scores;
  std::vector<std::int32_t> words;
};

/// A model on which a trace is replayed, on one thread. It has the outputs of a search head.
class Replay {
 public:
  Replay(std::string name, std::unique_ptr<Executable> executable);

  const std::string& name() const { return name_; }
  Seconds run(const Trace& trace, Outputs* outputs = nullptr);

 private:
  void keep(Outputs& outputs) const;

  std::string name_;
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Worker> worker_;
  std::size_t scores_, words_;
};

/// Seconds of each contestant in each round.
using Rounds = std::vector<std::vector<Seconds>>;

/// Runs all contestants forwards and backwards in each round, so that a drift of the machine's
/// speed affects all equally.
Rounds measure(std::vector<Replay>& contestants, const Trace& trace, int rounds);

/// Median of the seconds, or of a part of them, over the rounds.
using Part = double (*)(const Seconds&);
double median_of(const std::vector<Seconds>& rounds, Part part);

/// "1.234 [1.210, 1.250]": the median ratio of two contestants' times and its 95 % bounds.
std::string show_ratio(const std::vector<Seconds>& below, const std::vector<Seconds>& above,
                       Part part);

}  // namespace fuselage
