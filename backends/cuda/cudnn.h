#pragma once

namespace fuselage::cuda {

/// cuDNN, which is loaded when it is first asked for and stays: the library that the environment
/// variable FUSELAGE_CUDNN names or, without it, the loader's libcudnn.so.9. nullptr where there is
/// none, and in a program that was built without cuDNN's header.
void* cudnn_library();

/// Whether there are kernels for whole recurrent layers: cuDNN has them.
bool has_recurrent_layers();

}  // namespace fuselage::cuda
