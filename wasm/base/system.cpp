// What WebAssembly has of a system: one processor as far as it tells, no libraries that are loaded,
// and a stack whose overflow the machine itself reports.
#include <emscripten/threading.h>

#include "base/machine/build_id.h"
#include "base/machine/cores.h"
#include "base/machine/library_path.h"
#include "base/machine/process_memory.h"
#include "fuselage/base/stack.h"

namespace fuselage {

std::string build_id_of(const void*) { return {}; }

std::string libc_version() { return {}; }

std::size_t useful_threads() { return 1; }

bool has_threads() { return emscripten_has_threading_support() != 0; }

std::filesystem::path library_path() { return {}; }

void share_symbols() {}

ProcessMemory process_memory() { return {}; }

void expect_stack() {}

}  // namespace fuselage
