#include "tools/write_model.h"

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "tools/model_options.h"

namespace fuselage {
namespace {

/// Refuses a vocabulary whose copy would take the place of a file of the model directory.
void check_name(const std::string& vocabulary) {
  const std::string name = std::filesystem::path(vocabulary).filename().string();
  for (const std::string_view taken : {"config.json", "graph.ir", "weights.safetensors"})
    if (name == taken)
      throw Error("{}: a vocabulary in a model directory cannot be called {}; rename it",
                  vocabulary, name);
}

}  // namespace

void write_model(NamedModel loaded, const std::vector<std::string>& vocabularies,
                 std::string directory, SaveOptions save,
                 const std::function<void(Model&, VocabularyPair&)>& change) {
  for (const auto& [key, value] : loaded.decode_options) save.decode_options.emplace(key, value);
  const std::vector<std::string> paths =
      vocabularies.empty() ? loaded.model.vocabularies : vocabularies;
  for (const std::string& path : paths) check_name(path);
  VocabularyPair checked = load_vocabulary_pair(loaded.model, {.paths = paths});
  change(loaded.model, checked);
  for (const std::string& note : checked.notes) print_note(note);
  // Marian files are all called model.npz; a directory has a name of its own.
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  loaded.model.graph.set_name(directory.substr(directory.rfind('/') + 1));
  save_model_directory(loaded.model, paths, directory, save);
}

}  // namespace fuselage
