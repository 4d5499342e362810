#include "tools/stack_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "fuselage/base/error.h"

namespace fuselage {

void check_stack_limit() {
  struct rlimit limit {};
  // No limit is the largest number.
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur / 1024 >= kMinStackKib) return;
  throw Error(fmt::format(
      "the stack is limited to {} KiB, but {} KiB are needed; raise the limit: ulimit -s {}",
      limit.rlim_cur / 1024, kMinStackKib, kMinStackKib));
}

}  // namespace fuselage
