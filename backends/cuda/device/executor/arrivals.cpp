#include "backends/cuda/device/executor/arrivals.h"

#include "backends/cuda/device/rows/placing.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

// Sizes per octave, as for batches: of memory, and of the row bounds of launches.
constexpr std::int64_t kArrivalLayoutsPerOctave = 2;
constexpr std::int64_t kArrivalBucketsPerOctave = 4;

bool is_placed(const Domain& domain) {
  return domain.kind == DomainKind::sentence || domain.kind == DomainKind::source;
}

}  // namespace

Arrivals::Arrivals(const DeviceProgram& program, const BlasOptions& options)
    : graph_(program.plan().graph),
      frame_(graph_),
      blas_(options),
      cudnn_(options.tf32),
      rows_(graph_),
      source_(program, rows_, stream_, blas_, cudnn_),
      placed_(graph_.domain_count()) {}

Arrivals::~Arrivals() {
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
  static_cast<void>(cudaEventSynchronize(copied_.get()));
}

void Arrivals::run(const Batch& batch) {
  frame_.begin_batch(batch);
  const Layout layout = layout_of(frame_, batch.size(), {});
  try {
    run_in_memory(layout);
  } catch (const OutOfMemory&) {
    stream_.synchronize();
    copied_.wait();
    layout_ = {};
    source_.release();
    throw;
  }
  encoded_.record(stream_);
}

void Arrivals::run_in_memory(const Layout& batch) {
  if (!layout_.holds(batch)) grow_to(batch);
  stream_.wait(copied_);
  rows_.upload_source(frame_, stream_);
  batch_ = rows_.rows(
      live_bounds(graph_, common(layout_, rounded(graph_, batch, kArrivalBucketsPerOctave)), 0));
  source_.reserve_workspace(batch_);
  source_.run(batch_);
}

void Arrivals::grow_to(const Layout& batch) {
  stream_.synchronize();
  copied_.wait();
  const Layout layout = joined(layout_, rounded(graph_, batch, kArrivalLayoutsPerOctave));
  layout_ = {};  // holds no batch, in case of an Error
  rows_.place(layout);
  source_.place(layout);
  placed_rows_.emplace();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (is_placed(graph_.domain(DomainId{i}))) placed_[i] = placed_rows_->add(layout.rows[i]);
  placed_rows_->allocate();
  layout_ = layout;
}

const std::int32_t* Arrivals::placed(DomainId domain) const {
  const bool is_of_store = is_placed(graph_.domain(domain));
  return is_of_store ? placed_rows_->device(placed_[domain.index]) : nullptr;
}

Rows Arrivals::rows_of(DomainId domain) const {
  return {&batch_[domain].counts->live, batch_[domain].max_live};
}

void Arrivals::place(const RowFrame& store, const DeviceRows& store_rows,
                     const PlacedImports& imports, const Stream& steps) {
  placed_rows_->begin();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (placed(DomainId{i})) placed_rows_->fill(placed_[i], store.placed(DomainId{i}));
  placed_rows_->copy(steps);
  steps.wait(encoded_);
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (!placed(map.from)) continue;
    place_map(steps.get(),
              {.index = batch_[MapId{i}].index,
               .from = placed(map.from),
               .to = placed(map.to),
               .out = store_rows[MapId{i}].index},
              rows_of(map.from));
  }
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
    const Output& output = graph_.outputs()[i];
    const DomainId domain = graph_.value(output.value).type.domain;
    if (placed(domain))
      imports.keep(steps.get(), output.name, source_.output(i), rows_of(domain), placed(domain));
  }
  copied_.record(steps);
}

}  // namespace fuselage::cuda
