#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/graph.h"
#include "fuselage/models/load_model.h"
#include "tests/temporary_folder.h"

namespace fuselage::support {

/// The folder of a conformance case: a small trained model, and what Marian printed for it.
inline std::string conformance_case(const std::string& name) {
  return std::string(FUSELAGE_TEST_DATA) + "/" + name;
}

/// A small model for any purpose.
inline std::string small_model() { return conformance_case("transformer-ssru") + "/model.npz"; }

/// The vocabulary of all conformance cases, once per side.
inline std::vector<std::string> vocabularies() {
  const std::string path = std::string(FUSELAGE_TEST_DATA) + "/vocab.yml";
  return {path, path};
}

/// Whether the module that the environment variable FUSELAGE_EMULATED_CUDA names stands in for CUDA
/// and a GPU; if so, it is the one that will be loaded, with the emulated cuDNN beside it.
inline bool emulates_cuda() {
  static const char* const module = std::getenv("FUSELAGE_EMULATED_CUDA");
  if (module == nullptr) return false;
  const std::filesystem::path folder = std::filesystem::path(module).parent_path();
  return ::setenv("FUSELAGE_CUDA_MODULE", module, 1) == 0 &&
         ::setenv("FUSELAGE_CUDNN", (folder / "libcudnn_emulated.so").c_str(), 1) == 0 &&
         ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1) == 0;
}

/// Why nothing can run on a GPU here, if so.
inline std::optional<std::string> why_no_cuda() {
  if (emulates_cuda()) return std::nullopt;
  static const std::optional<std::string> reason = []() -> std::optional<std::string> {
    Graph graph;
    try {
      cuda_backend().compile(graph, {}, {});
    } catch (const Error& error) {
      return error.what();
    }
    return std::nullopt;
  }();
  return reason;
}

}  // namespace fuselage::support
