#pragma once

#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The version of the library that runs, such as "0.1.0".
std::string_view version();

}  // namespace fuselage
