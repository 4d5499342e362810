#include "backends/cuda/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

std::int32_t bounded(std::int64_t count) {
  return static_cast<std::int32_t>(std::min(count, kMaxRows));
}

/// Applies f to each bound of two layouts.
template <typename F>
Layout combined(const Layout& a, const Layout& b, const F& f) {
  check(a.rows.size() == b.rows.size(), "layouts of different graphs");
  Layout result{.sentence = f(a.sentence, b.sentence),
                .shortlist = f(a.shortlist, b.shortlist),
                .steps = f(a.steps, b.steps)};
  for (std::size_t i = 0; i < a.rows.size(); ++i) result.rows.push_back(f(a.rows[i], b.rows[i]));
  return result;
}

/// The bound on the pairs of one left row.
std::int32_t max_right(const Graph& graph, const Layout& layout, const Domain& pairs) {
  switch (graph.domain(pairs.right).kind) {
    case DomainKind::source:
      return layout.sentence;
    case DomainKind::shortlist:
      return layout.shortlist;
    default:
      return layout.steps;
  }
}

}  // namespace

std::int64_t round_size(std::int64_t count, std::int64_t per_octave) {
  if (count <= 2 * per_octave) return count;
  // Multiples of 2^k are the sizes between per_octave * 2^k and twice that.
  const auto power = std::bit_floor(static_cast<std::uint64_t>((count - 1) / per_octave));
  const auto unit = static_cast<std::int64_t>(power);
  return (count + unit - 1) / unit * unit;
}

bool Layout::holds(const Layout& other) const {
  if (rows.size() != other.rows.size()) return false;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < other.rows[i]) return false;
  return sentence >= other.sentence && shortlist >= other.shortlist && steps >= other.steps;
}

Layout layout_of(const RowFrame& frame, std::size_t sentences, const StepLimits& limits) {
  Layout layout{.sentence = frame.longest(DomainKind::source),
                .shortlist = frame.longest(DomainKind::shortlist)};
  for (const std::int32_t steps : limits.steps) layout.steps = std::max(layout.steps, steps);
  const Graph& graph = frame.graph();
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const std::int64_t rows = frame.max_rows(DomainId{i});
    if (rows > kMaxRows)
      throw OutOfMemory(fmt::format(
          "a batch of {} sentences may have {} rows of '{}', more than the {} that a GPU can "
          "count; use a smaller mini-batch, beam-size or max-length-factor",
          sentences, rows, graph.domain(DomainId{i}).name, kMaxRows));
    layout.rows.push_back(static_cast<std::int32_t>(rows));
  }
  return layout;
}

Layout store_layout(const RowFrame& frame, const PlaceLimits& limits) {
  const Graph& graph = frame.graph();
  Layout layout{.sentence = bounded(limits.source_rows), .steps = bounded(limits.words)};
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    // Only the source program reads these.
    const bool is_unread = domain.binding == BindingTime::source &&
                           (domain.kind == DomainKind::scan || domain.kind == DomainKind::pairs);
    const std::int64_t rows = is_unread ? 0 : frame.max_rows(DomainId{i});
    if (rows > kMaxRows)
      throw OutOfMemory(fmt::format(
          "a store of {} places may have {} rows of '{}', more than the {} that a GPU can count; "
          "use fewer places, a smaller beam-size or max-length-factor",
          limits.sentences, rows, domain.name, kMaxRows));
    layout.rows.push_back(static_cast<std::int32_t>(rows));
  }
  return layout;
}

Layout rounded(const Graph& graph, const Layout& layout, std::int64_t per_octave) {
  const auto up = [&](std::int32_t count) { return bounded(round_size(count, per_octave)); };
  Layout result{.rows = layout.rows,
                .sentence = up(layout.sentence),
                .shortlist = up(layout.shortlist),
                .steps = up(layout.steps)};
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).binding != BindingTime::load) result.rows[i] = up(layout.rows[i]);
  return result;
}

Layout joined(const Layout& a, const Layout& b) {
  if (a.rows.empty()) return b;
  return combined(a, b, [](std::int32_t x, std::int32_t y) { return std::max(x, y); });
}

Layout common(const Layout& a, const Layout& b) {
  return combined(a, b, [](std::int32_t x, std::int32_t y) { return std::min(x, y); });
}

std::int32_t max_hypotheses(const Graph& graph, const Layout& layout) {
  std::int32_t rows = 0;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::hypothesis)
      rows = std::max(rows, layout.rows[i]);
  return rows;
}

std::vector<std::int32_t> live_bounds(const Graph& graph, const Layout& layout,
                                      std::int32_t hypotheses) {
  std::vector<std::int32_t> bounds = layout.rows;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.binding != BindingTime::step) continue;
    std::int64_t live = hypotheses;
    if (domain.kind == DomainKind::pairs) live *= max_right(graph, layout, domain);
    bounds[i] = bounded(std::min<std::int64_t>(bounds[i], live));
  }
  return bounds;
}

}  // namespace fuselage::cuda
