#include "backends/cpu/runtime/placed_imports.h"

#include <algorithm>
#include <cstring>

namespace fuselage::cpu {
namespace {

std::size_t import_row_bytes(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.row_elements) * sizeof(float);
}

}  // namespace

PlacedImports::PlacedImports(const ProgramPlan& plan) : plan_(plan) {
  for (const Buffer& buffer : plan.buffers)
    if (buffer.kind == Buffer::Kind::imported) imports_.push_back({&buffer});
}

bool PlacedImports::can_open() const {
  return std::ranges::all_of(imports_, [this](const Import& import) {
    const DomainKind kind = plan_.graph.domain(import.buffer->domain).kind;
    return kind == DomainKind::sentence || kind == DomainKind::source ||
           kind == DomainKind::shortlist;
  });
}

void PlacedImports::open(const RowFrame& frame, ProgramRunner& step) {
  size_bytes_ = 0;
  for (Import& import : imports_) {
    const std::size_t bytes = static_cast<std::size_t>(frame.max_rows(import.buffer->domain)) *
                              import_row_bytes(*import.buffer);
    if (bytes > import.size_bytes) import.rows = allocate_arena(bytes);
    import.size_bytes = std::max(import.size_bytes, bytes);
    size_bytes_ += import.size_bytes;
    step.set_import(import.buffer->name, import.rows.get());
  }
}

void PlacedImports::keep(std::string_view name, const std::byte* rows, const RowFrame& frame) {
  for (const Import& import : imports_) {
    if (import.buffer->name != name) continue;
    const std::size_t bytes = import_row_bytes(*import.buffer);
    for (const std::int32_t row : frame.placed(import.buffer->domain)) {
      std::memcpy(import.rows.get() + static_cast<std::size_t>(row) * bytes, rows, bytes);
      rows += bytes;
    }
  }
}

}  // namespace fuselage::cpu
