#pragma once

#include <nanobind/nanobind.h>

// The parts of the module _core; each declares its classes and functions.

void bind_errors(nanobind::module_& module);
void bind_translations(nanobind::module_& module);
void bind_translator(nanobind::module_& module);
void bind_scorer(nanobind::module_& module);
void bind_equations(nanobind::module_& module);
void bind_builder(nanobind::module_& module);
void bind_graph(nanobind::module_& module);
void bind_structure(nanobind::module_& module);
