#include <exception>

#include "fuselage/base/error.h"
#include "python/bindings/bindings.h"
#include "python/bindings/text.h"

namespace nb = nanobind;

void bind_errors(nb::module_& module) {
  const nb::exception<fuselage::InternalError> internal(module, "InternalError");
  const nb::exception<fuselage::Error> error(module, "Error", PyExc_RuntimeError);
  // Messages may name paths with any bytes. The newest translator is asked first.
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const fuselage::Error& raised) {
          PyErr_SetObject(static_cast<PyObject*>(type), escaped(raised.what()).ptr());
        }
      },
      error.ptr());
}
