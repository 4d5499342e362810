#include "fuselage/base/version.h"

namespace fuselage {

std::string_view version() { return FUSELAGE_VERSION; }

}  // namespace fuselage
