#include "backends/output_places.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {

OutputPlaces::OutputPlaces(const Programs& programs)
    : graph_(programs.step.name()), load_outputs_(programs.own_outputs[0]) {
  if (graph_.ends_with(".step")) graph_.resize(graph_.size() - std::string_view(".step").size());
  for (const BindingTime time : {BindingTime::step, BindingTime::source, BindingTime::load}) {
    const Graph& graph = program(programs, time);
    for (std::size_t i = 0; i < programs.own_outputs[static_cast<std::size_t>(time)]; ++i) {
      const Output& output = graph.outputs()[i];
      places_.push_back({output.name, time, i, graph.value(output.value).type.domain});
    }
  }
}

std::size_t OutputPlaces::number(std::string_view name) const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].name == name) return i;
    names.push_back(places_[i].name);
  }
  throw Error(fmt::format("graph '{}' has no output {}{}", graph_, in_quotes(name),
                          did_you_mean(name, names)));
}

}  // namespace fuselage
