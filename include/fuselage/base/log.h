#pragma once

#include <functional>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Receives a note for the user: one line, without a line break. Empty: notes are not passed on.
using Log = std::function<void(std::string_view note)>;

}  // namespace fuselage
