#pragma once

#include <string>

namespace fuselage::cuda {

/// Makes a device current for this thread. Throws Error where the device does not exist or the
/// driver does not support it.
void use_device(int number);

/// The thread's current device, as in "device 0: NVIDIA H200, 150754 MB".
std::string describe_device();

}  // namespace fuselage::cuda
