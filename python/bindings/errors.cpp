#include "fuselage/base/error.h"
#include "python/bindings/bindings.h"

void bind_errors(nanobind::module_& module) {
  nanobind::exception<fuselage::InternalError>(module, "InternalError");
  nanobind::exception<fuselage::Error>(module, "Error");
}
