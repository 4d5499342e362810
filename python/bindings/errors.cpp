#include "fuselage/base/error.h"
#include "python/bindings/bindings.h"

void bind_errors(nanobind::module_& module) {
  const nanobind::exception<fuselage::InternalError> internal(module, "InternalError");
  const nanobind::exception<fuselage::Error> error(module, "Error");
}
