#pragma once

// Included before any Highway header. AVX3_DL stays off: its extra instructions bring these float
// kernels nothing, and one level fewer is built and tested.
#define HWY_DISABLED_TARGETS HWY_AVX3_DL
