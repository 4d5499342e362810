#pragma once

#include <string>

namespace fuselage::cuda {

/// Makes a device the one that this thread talks to. Throws Error, with what to do, when there is
/// no such device or no driver that knows it.
void use_device(int number);

/// "device 0: NVIDIA H200, 150754 MB", of the device that this thread talks to.
std::string describe_device();

}  // namespace fuselage::cuda
