#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "fuselage/base/version.h"
#include "fuselage/models/bundled_model.h"
#include "python/bindings/bindings.h"

using namespace nanobind::literals;

NB_MODULE(_core, module) {
  module.doc() = "Bindings of libfuselage; use the package fuselage.";
  bind_errors(module);
  bind_translations(module);
  bind_translator(module);
  bind_scorer(module);
  bind_equations(module);
  bind_builder(module);
  bind_graph(module);
  bind_structure(module);
  module.attr("version") = fuselage::version();
  module.def("find_bundled_model", fuselage::find_bundled_model,
             "The path of the model that comes with the package, from `source` to `target`: codes "
             "such as \"en\", of which one may be left out; without both from English to German.",
             "source"_a = "", "target"_a = "");
}
