#include <cstdlib>

namespace fuselage {
namespace {

/// Replaces a real cuDNN, which cannot use the emulated GPU.
[[maybe_unused]] const int kNamed = ::setenv("FUSELAGE_CUDNN", EMULATED_CUDNN, 1);

}  // namespace
}  // namespace fuselage
