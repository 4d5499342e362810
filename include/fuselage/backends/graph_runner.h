#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuselage/backends/compile_options.h"
#include "fuselage/backends/executable.h"
#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The rows of an input or an output for all sentences, one sentence after the other.
struct NamedRows {
  std::string name;
  /// [rows, dims…]; [rows] for the words of a word map. A load-time output has no dimension for
  /// rows, or the entries of its vocabulary.
  Tensor values = {};
  /// The number of rows of each sentence. Empty for load-time outputs and outputs with a row for
  /// each sentence; empty for an input: one sentence, or a row for each sentence of such a domain.
  std::vector<std::int32_t> lengths = {};
};

/// Data that a graph reads from its caller.
struct GraphInput {
  enum class Kind : std::uint8_t {
    words,    ///< of a word map: an integer for each row; -1: none, in partial maps
    numbers,  ///< of a declared input
    rows,     ///< of a domain: only lengths
  };
  std::string name;
  Kind kind = Kind::words;
  Type type;                    ///< of numbers; the domain of all kinds
  std::int64_t vocabulary = 0;  ///< entries, for words
  bool partial = false;         ///< words may be -1
  bool needed = true;           ///< false: read only by steps, and no output depends on steps
};

/// The data that a graph reads from its caller, in the order of declaration.
std::vector<GraphInput> graph_inputs(const Graph& graph);

/// Evaluates any graph, in batches. The step program runs by teacher forcing: one hypothesis for
/// each sentence. Row t of the words of the hypotheses is the word that step t reads (-1: none
/// yet), and their number is the number of steps. If several word maps lead from hypotheses, all
/// read the words of the first one. In a graph without such a map, the lengths of an input with the
/// name of the hypotheses' domain are the numbers of steps. Not thread-safe.
class GraphRunner {
 public:
  /// Throws Error as compile() does, and for outputs that cannot be read: in a loop, in a prefix
  /// domain, and of types other than f32 and i32.
  GraphRunner(Graph graph, TensorMap weights, const CompileOptions& options = {});
  /// The same for a graph that is compiled as it is, without passes.
  static GraphRunner without_passes(Graph graph, TensorMap weights, const CompileOptions& options);
  GraphRunner(GraphRunner&&) noexcept;
  ~GraphRunner();

  /// All data that the graph reads.
  const std::vector<GraphInput>& inputs() const;

  /// Evaluates all outputs, in the order of the graph. A batch has `mini_batch` sentences; 0: as
  /// many as are fastest. Results do not depend on it. Throws Error, before anything runs, for an
  /// input that is missing, unknown or given twice, has another type or shape, and for lengths that
  /// do not add up, differ between inputs of one domain, and words outside of the vocabulary.
  std::vector<NamedRows> run(std::span<const NamedRows> inputs, std::size_t mini_batch = 0);

 private:
  class Impl;
  explicit GraphRunner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuselage
