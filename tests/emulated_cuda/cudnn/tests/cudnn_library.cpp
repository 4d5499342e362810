#include <cstdlib>

namespace fuselage {
namespace {

/// In the place of cuDNN, of which there may be a real one, which knows no emulated GPU.
[[maybe_unused]] const int kNamed = ::setenv("FUSELAGE_CUDNN", EMULATED_CUDNN, 1);

}  // namespace
}  // namespace fuselage
