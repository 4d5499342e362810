# The part of the project that reads a model and translates lines and pages, for systems that lack some of the
# libraries: model directories and Marian's .bin files, no loaders of other formats, archives, corpora, server, GPUs or
# command. With Emscripten it is a module of WebAssembly; for Windows it is the C interface, a static library. Files of
# wasm/ and windows/ take the place of those that need what is not there: another system, or a library that is left out.
if(FUSELAGE_WASM_THREADS)
  include(cmake/wasm_threads.cmake)
endif()
add_subdirectory(wasm/libraries)
include(cmake/layer.cmake)
set(headers ${FUSELAGE_SOURCES}/headers)
include_directories(SYSTEM ${headers} ${headers}/eigen3)
# Numbers of rows have 64 bits, addresses of WebAssembly 32.
add_compile_definitions("EIGEN_DEFAULT_DENSE_INDEX_TYPE=long long")

if(EMSCRIPTEN)
  set(base_left_out numbers/from_chars.cpp)
  set(base_system wasm/base/*.cpp)
  set(backends_system)
  set(models_system)
  set(text_system wasm/text/*.cpp)
else()
  set(base_left_out classic_locale.cpp files/open_file.cpp)
  set(base_system wasm/base/archive.cpp wasm/base/compression_formats.cpp windows/base/*.cpp)
  set(backends_left_out cpu/weights/weight_cache*.cpp)
  set(backends_system windows/backends/*.cpp)
  set(models_system windows/models/*.cpp)
  set(text_system windows/text/*.cpp)
endif()

fuselage_layer(base COLD WITH ${base_system}
               EXCEPT files/archive.cpp files/compression_formats.cpp files/mapped_memory.cpp machine/*.cpp
                      extension.cpp ${base_left_out}
               PUBLIC fmt PRIVATE xxhash nettle yaml_cpp)
set_source_files_properties(base/version.cpp PROPERTIES COMPILE_DEFINITIONS
                            FUSELAGE_VERSION="${PROJECT_VERSION}")
fuselage_layer(graph COLD PUBLIC fuselage_base)
fuselage_layer(ops COLD PUBLIC fuselage_graph)
fuselage_layer(passes COLD PUBLIC fuselage_ops)
fuselage_layer(backends ALONE "cpu/simd/" WITH wasm/backends/*.cpp ${backends_system}
               EXCEPT all_backends.cpp compare_with_reference.cpp cuda/*.cpp reference/*.cpp ${backends_left_out}
               PUBLIC fuselage_passes PRIVATE hwy)
fuselage_layer(models COLD WITH wasm/models/*.cpp ${models_system}
               EXCEPT bundled_model.cpp huggingface/*.cpp ctranslate2/*.cpp formats/npz*.cpp
                      directory/directory_writer.cpp
               PUBLIC fuselage_ops PRIVATE yaml_cpp)
fuselage_layer(text COLD WITH ${text_system}
               EXCEPT pages/sentence_boundaries.cpp pages/cldr_suppressions.cpp
               PUBLIC fuselage_base PRIVATE sentencepiece utf8proc yaml_cpp)
fuselage_layer(decoding PUBLIC fuselage_backends fuselage_models fuselage_text)
fuselage_layer(capi PUBLIC fuselage_decoding)
if(EMSCRIPTEN)
  add_subdirectory(wasm/module)
else()
  add_subdirectory(windows/program)
endif()
