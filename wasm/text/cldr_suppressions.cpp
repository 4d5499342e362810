// Browsers have no interface to CLDR's lists.
#include "text/pages/cldr_suppressions.h"

namespace fuselage {

std::vector<std::string> cldr_suppressions(const std::string&) { return {}; }

}  // namespace fuselage
