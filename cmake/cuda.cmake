# CUDA: the module fuselage_cuda, which is loaded where there is a GPU, out of backends/cuda/device/.
# FUSELAGE_CUDA_FOUND says whether there is a toolkit.
set(FUSELAGE_CUDA AUTO CACHE STRING "Build for CUDA: AUTO (where there is a toolkit), ON or OFF")
set_property(CACHE FUSELAGE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs to compile for: 90 is Hopper")

set(FUSELAGE_CUDA_FOUND FALSE)
if(FUSELAGE_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off")
  return()
endif()

# cudaLibraryLoadData() is younger than CUDA 12.4.
find_package(CUDAToolkit 12.8 QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cublasLt
   AND TARGET CUDA::nvrtc AND TARGET CUDA::cudart_static)
  set(FUSELAGE_CUDA_FOUND TRUE)
  message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}, for sm_${CMAKE_CUDA_ARCHITECTURES}")
  enable_language(CUDA)
  # CMake 3.25 has yet to learn nvcc's option for C++20, which stands for CMAKE_CXX_STANDARD.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  # Packages that are in /usr/include name it; as an option it would hide the compiler's own folders.
  list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
elseif(FUSELAGE_CUDA STREQUAL "AUTO")
  message(STATUS "CUDA: left out, as there is no toolkit with nvcc, cuBLASLt and NVRTC")
else()
  message(FATAL_ERROR "FUSELAGE_CUDA=ON needs a CUDA toolkit of 12.8 or later with nvcc, cuBLASLt "
                      "and NVRTC, with nvcc in PATH")
endif()

# fuselage_cuda_module(): the module, and fuselage_cuda_device with its object files for tests. The
# program that loads it has the layers that it uses.
function(fuselage_cuda_module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cuda/device/*.cpp
                                      ${CMAKE_SOURCE_DIR}/backends/cuda/device/*.cu)
  if(NOT sources)
    return()
  endif()
  add_library(fuselage_cuda_device OBJECT ${sources})
  target_include_directories(fuselage_cuda_device PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuselage_cuda_device PUBLIC fmt::fmt CUDA::cudart_static CUDA::cublasLt
                                                    CUDA::nvrtc)
  add_library(fuselage_cuda MODULE)
  set_target_properties(fuselage_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_link_libraries(fuselage_cuda PRIVATE fuselage_cuda_device)
endfunction()
