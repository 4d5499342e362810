#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "fuselage/base/tensor.h"

/// An array of numpy, read only, in C order.
using Array =
    nanobind::ndarray<nanobind::numpy, nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// A copy of an array of f16, f32, f64 or integers as a tensor of its type.
fuselage::Tensor to_tensor(const Array& array);

/// A new numpy array with a tensor's f32, f64 or i32 numbers.
nanobind::object from_tensor(const fuselage::Tensor& tensor);
