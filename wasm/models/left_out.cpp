// The formats of models that the minimal build does not read, and the bundled model, which a page
// fetches.
#include <fmt/format.h>

#include "fuselage/base/error.h"
#include "fuselage/models/bundled_model.h"
#include "models/ctranslate2/argos.h"
#include "models/ctranslate2/directory.h"
#include "models/formats/npz.h"
#include "models/huggingface/config_files.h"
#include "models/huggingface/huggingface_directory.h"

namespace fuselage {
namespace {

[[noreturn]] void refuse_format(std::string_view path) {
  throw Error(fmt::format(
      "{}: this build reads no models of this format; make a model directory with the command "
      "fuselage convert",
      path));
}

}  // namespace

bool is_argos_package(const std::string&) { return false; }
Model load_argos_package(const std::string& path) { refuse_format(path); }

bool is_ctranslate2_directory(const std::string&) { return false; }
Model load_ctranslate2_directory(const std::string& path) { refuse_format(path); }

bool is_huggingface_directory(const std::string&) { return false; }
Model load_huggingface_directory(const std::string& path) { refuse_format(path); }

NpzFile read_npz(const std::string& path) { refuse_format(path); }

std::string find_bundled_model(std::string_view, std::string_view) {
  throw Error("this build has no bundled model; give the path of a model");
}

std::string model_path(const std::string& path) { return path; }

}  // namespace fuselage
