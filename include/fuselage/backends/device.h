#pragma once

#include <string_view>

#include "fuselage/backends/compile_options.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Sets back-end and device number from the name of a device: "cpu", "cuda" (the first GPU) or
/// "cuda:1". Throws Error for another text.
void set_device(CompileOptions& options, std::string_view device);

}  // namespace fuselage
