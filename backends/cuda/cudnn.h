#pragma once

#include "base/exported.h"

namespace fuselage::cuda {

/// The handle (dlopen) of cuDNN, loaded at the first call: the library that the environment
/// variable FUSELAGE_CUDNN names or, without it, the loader's libcudnn.so.9. nullptr if it does not
/// load, and in a program that was built without cuDNN's header.
FUSELAGE_EXPORTED void* cudnn_library();

/// Whether there are kernels for whole recurrent layers, which need cuDNN.
bool has_recurrent_layers();

}  // namespace fuselage::cuda
