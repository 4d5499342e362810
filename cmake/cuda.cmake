# CUDA: the module fuselage_cuda, which is loaded where there is a GPU, out of backends/cuda/device/.
# FUSELAGE_CUDA_FOUND says whether there is a toolkit; the tests under emulation need its headers.
set(FUSELAGE_CUDA AUTO CACHE STRING "Build for CUDA: AUTO (where there is a toolkit), ON or OFF")
set_property(CACHE FUSELAGE_CUDA PROPERTY STRINGS AUTO ON OFF)

set(FUSELAGE_CUDA_FOUND FALSE)
if(FUSELAGE_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off")
  return()
endif()

find_package(CUDAToolkit 12.4 QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cublasLt
   AND TARGET CUDA::nvrtc AND TARGET CUDA::cudart_static)
  set(FUSELAGE_CUDA_FOUND TRUE)
  message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}")
elseif(FUSELAGE_CUDA STREQUAL "AUTO")
  message(STATUS "CUDA: left out, as there is no toolkit with nvcc, cuBLASLt and NVRTC")
else()
  message(FATAL_ERROR "FUSELAGE_CUDA=ON needs a CUDA toolkit of 12.4 or later with nvcc, cuBLASLt "
                      "and NVRTC, with nvcc in PATH")
endif()
