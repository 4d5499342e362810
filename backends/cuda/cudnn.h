#pragma once

namespace fuselage::cuda {

/// True where cuDNN, which has kernels for whole recurrent layers, can be loaded: the library that
/// FUSELAGE_CUDNN names, else libcudnn.so.9 where the loader finds it. False for a program that was
/// built without cuDNN's header.
bool has_recurrent_layers();

}  // namespace fuselage::cuda
