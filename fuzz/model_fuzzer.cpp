// Loads a model as a Marian archive or file, or as a model directory, and decodes with it.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "fuzz/check_message.h"
#include "fuzz/model_bundle.h"
#include "fuzz/mutate.h"
#include "fuzz/zip.h"
#include "models/architectures/scores.h"

namespace {

using namespace fuselage;

/// The folder to which inputs are written, one after the other.
const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    std::filesystem::path made =
        std::filesystem::temp_directory_path() / ("fuselage-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(made);
    return made;
  }();
  return path;
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path.string(), bytes);
}

std::string path_of_model(std::string_view input) {
  const std::filesystem::path directory = folder() / "directory";
  if (const auto bundle = parse_model_bundle(input)) {
    for (const auto& [name, content] : *bundle) write(directory / name, content);
    return directory.string();
  }
  const std::filesystem::path file =
      folder() / (input.starts_with("PK") ? "model.npz" : "model.bin");
  write(file, input);
  return file.string();
}

/// Whether all vocabularies of a graph contain the decoded words.
bool has_words(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.kind == DomainKind::vocabulary && domain.size < 4) return false;
  }
  return scores_of(graph).words >= 4;
}

void decode(const Model& model, const std::string& backend, const std::string& passes) {
  const SearchOptions options{.beam_size = 2, .max_length_factor = 1, .end_id = 0};
  const Graph graph =
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .alignment = false});
  const auto executable =
      compile(graph, model.weights,
              {.backend = backend, .passes = passes, .precision = model.decode.precision});
  const std::vector<WordIds> sentences = {{1, 0}, {2, 3, 0}};
  BeamSearch(*executable, options).search(sentences);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mutate(bytes, max_size);
  if (bytes.starts_with("PK")) repair_checksums(bytes);
  return hand_over(bytes, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    try {
      const Model model = load_model(path_of_model(input), {.ignore_unknown = ignore_unknown});
      if (!has_words(model.graph)) continue;
      decode(model, "reference", "none");
      decode(model, "cpu", "all");
    } catch (const Error& error) {
      check_message(error);
    }
  }
  return 0;
}
