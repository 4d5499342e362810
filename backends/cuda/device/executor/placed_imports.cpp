#include "backends/cuda/device/executor/placed_imports.h"

#include <algorithm>

#include "backends/cuda/device/gather/copy.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kStore{"the source words of a store of places",
                         "use a smaller mini-batch or fewer workers (cpu-threads)"};

}  // namespace

PlacedImports::PlacedImports(const ProgramPlan& plan) : plan_(plan) {
  for (const Buffer& buffer : plan.buffers)
    if (buffer.kind == Buffer::Kind::imported) imports_.push_back({&buffer, {}});
}

bool PlacedImports::can_open() const {
  return std::ranges::all_of(imports_, [this](const Import& import) {
    const DomainKind kind = plan_.graph.domain(import.buffer->domain).kind;
    return kind == DomainKind::sentence || kind == DomainKind::source;
  });
}

void PlacedImports::open(const Layout& layout, ProgramRunner& step) {
  for (Import& import : imports_) {
    const std::int64_t elements =
        layout.rows[import.buffer->domain.index] * import.buffer->row_elements;
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    if (bytes > import.rows.size_bytes() || !import.rows.data()) {
      import.rows = {};
      import.rows = DeviceMemory(bytes, kStore);
    }
    step.set_import(import.buffer->name, import.rows.data());
  }
}

void PlacedImports::release() {
  for (Import& import : imports_) import.rows = {};
}

void PlacedImports::keep(cudaStream_t stream, std::string_view name, const std::byte* from,
                         const Rows& rows, const std::int32_t* to) const {
  for (const Import& import : imports_) {
    if (import.buffer->name != name) continue;
    const std::int64_t columns = import.buffer->row_elements;
    scatter_rows(stream,
                 {.data = reinterpret_cast<const float*>(from),
                  .stride = columns,
                  .columns = static_cast<std::int32_t>(columns)},
                 to, rows, columns,
                 {.data = reinterpret_cast<float*>(import.rows.data()), .stride = columns});
  }
}

std::size_t PlacedImports::size_bytes() const {
  std::size_t bytes = 0;
  for (const Import& import : imports_) bytes += import.rows.size_bytes();
  return bytes;
}

}  // namespace fuselage::cuda
