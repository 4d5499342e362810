#pragma once

/// Marks declarations of private headers that the CUDA module uses. The library exports them but
/// makes no promise about them: library and module are of the same build.
#define FUSELAGE_EXPORTED [[gnu::visibility("default")]]
