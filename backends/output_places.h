#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/exported.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// An output of a graph in the program that computes it.
struct OutputPlace {
  std::string name;
  BindingTime program;
  std::size_t number;  ///< among the program's outputs
  DomainId domain;
};

/// Numbers of a graph's outputs over all programs, for back-ends that run programs: the outputs of
/// the step program come first, under their own numbers.
class FUSELAGE_EXPORTED OutputPlaces {
 public:
  explicit OutputPlaces(const Programs& programs);

  /// The number of the output `name`. Throws Error if the graph has none.
  std::size_t number(std::string_view name) const;
  const OutputPlace& operator[](std::size_t number) const { return places_[number]; }
  /// The number of outputs of the graph that the load program computes.
  std::size_t load_outputs() const { return load_outputs_; }

 private:
  std::string graph_;
  std::vector<OutputPlace> places_;
  std::size_t load_outputs_;
};

}  // namespace fuselage
