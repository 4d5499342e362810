#pragma once

#include <cstddef>
#include <string_view>

#include "fuselage/backends/compile_options.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The largest number of devices for set_device().
inline constexpr std::size_t kMaxDevices = 64;

/// Sets back-end and device numbers from the name of a device: "cpu", "cuda" (the first GPU) or
/// "cuda:1", or from names of several GPUs, separated by commas. Throws Error for another text.
void set_device(CompileOptions& options, std::string_view devices);

}  // namespace fuselage
