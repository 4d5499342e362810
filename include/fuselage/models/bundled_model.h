#pragma once

#include <string>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The path of the bundled model, a model directory. The environment variable FUSELAGE_MODELS names
/// the folder that holds it, or the model itself; else it is looked for beside the program, in
/// share/fuselage/models beside the folders of the program and of this library, and in the source
/// tree. Throws Error with the places where it is not.
std::string find_bundled_model();

}  // namespace fuselage
