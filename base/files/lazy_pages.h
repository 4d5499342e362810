#pragma once

namespace fuselage {

/// Whether pages take memory only when they are written, and pages of files when they are read
/// (mapped_memory.h). Otherwise a block takes its size from the beginning, and a file is read as a
/// whole.
bool pages_are_lazy();

}  // namespace fuselage
