#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The path of a bundled model, a model directory: the one from language `source` to language
/// `target`, codes such as "en", of which one may be empty. Without both it is the one from English
/// to German. The environment variable FUSELAGE_MODELS names the folder that holds the models, or
/// the model itself; else they are looked for beside the program, in share/fuselage/models beside
/// the folders of the program and of this library, and in the source tree. Throws Error with the
/// places where it is not, or with the models that there are.
std::string find_bundled_model(std::string_view source = {}, std::string_view target = {});

/// The paths of all bundled models of the first place that has any, SOURCE-TARGET: the one from
/// English to German first, the others by name. Throws Error with the places if there are none.
std::vector<std::string> find_bundled_models();

/// The path of the bundled model that is called `path`, such as "de-en", if there is no file or
/// folder `path`; else `path`.
std::string model_path(const std::string& path);

}  // namespace fuselage
