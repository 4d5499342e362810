# CUDA: the module fuselage_cuda of backends/cuda/device, which programs load where there is a GPU. It takes
# as long to build as a third of everything else, so that it is a part of the program only where it is of use:
# AUTO  with an NVIDIA driver and a toolkit on this machine; ON and OFF decide it in advance.
# Tests compile it wherever there is a toolkit, but with OFF.
#
# FUSELAGE_CUDA_FOUND says whether there are targets of CUDA, FUSELAGE_CUDA_IN_PROGRAM whether the program
# includes the module.
set(FUSELAGE_CUDA AUTO CACHE STRING "Build for CUDA: AUTO (where there is a driver), ON or OFF")
set_property(CACHE FUSELAGE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs to compile for: 90 is Hopper")

set(FUSELAGE_CUDA_FOUND FALSE)
set(FUSELAGE_CUDA_IN_PROGRAM FALSE)
if(FUSELAGE_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off")
  return()
endif()
if(NOT FUSELAGE_CUDA STREQUAL "AUTO" OR EXISTS /proc/driver/nvidia/version)
  set(FUSELAGE_CUDA_IN_PROGRAM TRUE)
elseif(NOT FUSELAGE_BUILD_TESTS)
  message(STATUS "CUDA: left out, as there is no NVIDIA driver (FUSELAGE_CUDA=ON builds it)")
  return()
endif()

# cudaLibraryLoadData() needs a CUDA later than 12.4.
find_package(CUDAToolkit 12.8 QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cublasLt
   AND TARGET CUDA::nvrtc AND TARGET CUDA::cudart_static)
  set(FUSELAGE_CUDA_FOUND TRUE)
  message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}, for sm_${CMAKE_CUDA_ARCHITECTURES}")
  if(NOT FUSELAGE_CUDA_IN_PROGRAM)
    message(STATUS "CUDA: for tests only, as there is no NVIDIA driver")
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know nvcc's option for C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  # Packages in /usr/include add it as an option, which would hide the compiler's own folders.
  list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
elseif(FUSELAGE_CUDA STREQUAL "AUTO")
  set(FUSELAGE_CUDA_IN_PROGRAM FALSE)
  message(STATUS "CUDA: left out, as there is no toolkit with nvcc, cuBLASLt and NVRTC")
else()
  message(FATAL_ERROR "FUSELAGE_CUDA=ON needs a CUDA toolkit of 12.8 or later with nvcc, cuBLASLt "
                      "and NVRTC, with nvcc in PATH")
endif()

# The library fuselage_cudnn gives cuDNN's header, and the definition FUSELAGE_CUDNN_FOUND if there is
# one. cuDNN itself is loaded at run time, so nothing links it. Sources that need the header are in
# backends/cuda/device/recurrent and tests/emulated_cuda/cudnn, and are left out without it.
if(FUSELAGE_CUDA_FOUND)
  add_library(fuselage_cudnn INTERFACE)
  find_path(FUSELAGE_CUDNN_INCLUDE cudnn_version.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(FUSELAGE_CUDNN_INCLUDE)
  if(FUSELAGE_CUDNN_INCLUDE)
    file(STRINGS ${FUSELAGE_CUDNN_INCLUDE}/cudnn_version.h cudnn_9 REGEX "define CUDNN_MAJOR +9$")
  endif()
  if(cudnn_9)
    set(FUSELAGE_CUDNN_FOUND TRUE)
    target_include_directories(fuselage_cudnn SYSTEM INTERFACE ${FUSELAGE_CUDNN_INCLUDE})
    target_compile_definitions(fuselage_cudnn INTERFACE FUSELAGE_CUDNN_FOUND)
    # It needs the definition alone, and its layer is built without CUDA.
    set_source_files_properties(${PROJECT_SOURCE_DIR}/backends/cuda/cudnn.cpp
                                PROPERTIES COMPILE_DEFINITIONS FUSELAGE_CUDNN_FOUND)
    message(STATUS "CUDA: recurrent layers by cuDNN 9, if it loads at run time")
  else()
    message(STATUS "CUDA: no recurrent layers by cuDNN, as there is no header of version 9")
  endif()
endif()

# fuselage_cuda_sources(VARIABLE EXTENSION): the sources of backends/cuda/device.
function(fuselage_cuda_sources variable extension)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/backends/cuda/device/*.${extension})
  if(NOT FUSELAGE_CUDNN_FOUND)
    list(FILTER sources EXCLUDE REGEX "/device/recurrent/")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# fuselage_cuda_module(): the module fuselage_cuda, and its object files as fuselage_cuda_device for
# tests. The program that loads the module provides the layers that it uses.
function(fuselage_cuda_module)
  fuselage_cuda_sources(host cpp)
  fuselage_cuda_sources(kernels cu)
  # Kernels with instructions of Hopper alone, in files named hopper_*.cu, are compiled for sm_90a, whatever
  # the other GPUs are: a device of another kind never launches them.
  set(hopper ${kernels})
  list(FILTER hopper INCLUDE REGEX "/hopper_[^/]*$")
  list(REMOVE_ITEM kernels ${hopper})
  add_library(fuselage_cuda_hopper OBJECT ${hopper})
  set_target_properties(fuselage_cuda_hopper PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_options(fuselage_cuda_hopper PRIVATE --generate-code=arch=compute_90a,code=sm_90a)
  target_include_directories(fuselage_cuda_hopper PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(fuselage_cuda_hopper PRIVATE fmt::fmt CUDA::cudart_static)
  add_library(fuselage_cuda_device OBJECT ${host} ${kernels})
  fuselage_unite(fuselage_cuda_device "[.]cu$")
  target_include_directories(fuselage_cuda_device PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_sources(fuselage_cuda_device INTERFACE $<TARGET_OBJECTS:fuselage_cuda_hopper>)
  target_link_libraries(fuselage_cuda_device PUBLIC fmt::fmt CUDA::cudart_static CUDA::cublasLt
                                                    CUDA::nvrtc fuselage_cudnn)
  add_library(fuselage_cuda MODULE)
  set_target_properties(fuselage_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(fuselage_cuda PRIVATE fuselage_cuda_device)
endfunction()
