#include "fuselage/base/error.h"

#include <fmt/format.h>

namespace fuselage {

void fail_check(const char* message, CodeLocation where) {
  throw InternalError(
      fmt::format("internal error: {} ({}:{})", message, where.file_name(), where.line()));
}

}  // namespace fuselage
