# CUDA: builds the module fuselage_cuda from backends/cuda/device/. The program loads it on request.
# FUSELAGE_CUDA_FOUND: whether a toolkit was found.
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
  # CMake 3.25 does not know nvcc's option for C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  # Some packages add /usr/include; as an option it would precede the compiler's own folders.
  list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
elseif(FUSELAGE_CUDA STREQUAL "AUTO")
  message(STATUS "CUDA: left out, as there is no toolkit with nvcc, cuBLASLt and NVRTC")
else()
  message(FATAL_ERROR "FUSELAGE_CUDA=ON needs a CUDA toolkit of 12.8 or later with nvcc, cuBLASLt "
                      "and NVRTC, with nvcc in PATH")
endif()

# Only cuDNN's header is needed: the library is loaded at run time if it is installed.
# FUSELAGE_CUDNN_FOUND: whether the header was found.
if(FUSELAGE_CUDA_FOUND)
  find_path(FUSELAGE_CUDNN_INCLUDE cudnn_version.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(FUSELAGE_CUDNN_INCLUDE)
  if(FUSELAGE_CUDNN_INCLUDE)
    file(STRINGS ${FUSELAGE_CUDNN_INCLUDE}/cudnn_version.h cudnn_9 REGEX "define CUDNN_MAJOR +9$")
  endif()
  if(cudnn_9)
    set(FUSELAGE_CUDNN_FOUND TRUE)
    message(STATUS "CUDA: recurrent layers by cuDNN 9, where it is found when a GPU is asked for")
  else()
    message(STATUS "CUDA: no recurrent layers by cuDNN, as there is no header of version 9")
  endif()
endif()

# fuselage_cudnn_sources(VARIABLE): sets the include path of cuDNN's header for the sources in the
# list that use it; without the header, removes the sources that need it from the list.
function(fuselage_cudnn_sources variable)
  set(asking ${${variable}})
  list(FILTER asking INCLUDE REGEX
       "/(cuda/cudnn|device/recurrent/[a-z_]+|kernel_registry)\\.cpp$")
  if(FUSELAGE_CUDNN_FOUND)
    set_source_files_properties(${asking} PROPERTIES COMPILE_DEFINITIONS FUSELAGE_CUDNN_FOUND
                                                     INCLUDE_DIRECTORIES ${FUSELAGE_CUDNN_INCLUDE})
  else()
    list(FILTER asking EXCLUDE REGEX "/(cuda/cudnn|kernel_registry)\\.cpp$")
    list(REMOVE_ITEM ${variable} ${asking})
    set(${variable} ${${variable}} PARENT_SCOPE)
  endif()
endfunction()

# fuselage_cuda_module(): the module, and fuselage_cuda_device with its object files for tests. The
# program that loads the module provides the layers that the module uses.
function(fuselage_cuda_module)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/cuda/device/*.cpp
                                              ${CMAKE_SOURCE_DIR}/backends/cuda/device/*.cu)
  if(NOT sources)
    return()
  endif()
  fuselage_cudnn_sources(sources)
  add_library(fuselage_cuda_device OBJECT ${sources})
  target_include_directories(fuselage_cuda_device PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuselage_cuda_device PUBLIC fmt::fmt CUDA::cudart_static CUDA::cublasLt
                                                    CUDA::nvrtc)
  add_library(fuselage_cuda MODULE)
  set_target_properties(fuselage_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_link_libraries(fuselage_cuda PRIVATE fuselage_cuda_device)
endfunction()
