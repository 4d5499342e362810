// Declarations of a graph: domains, maps and inputs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/graph.h"
#include "fuselage/graph/text.h"
#include "graph/names.h"

namespace fuselage {
namespace {

/// Limits, since names of domains, maps and inputs are searched linearly.
constexpr std::size_t kMaxDomains = 10'000;
constexpr std::size_t kMaxMaps = 30'000;
constexpr std::size_t kMaxInputs = 10'000;

/// Limits of the memory for tables of distances, which executors keep.
constexpr std::ptrdiff_t kMaxDistanceMaps = 1'000;
constexpr std::int64_t kMaxBuckets = 1 << 15;

/// A bound on the magnitude of distances and offsets; sums with positions fit in 64 bits.
constexpr std::int64_t kMaxDistance = std::numeric_limits<std::int32_t>::max();

/// Throws unless `of` is a domain of kind `kind`.
void expect_kind(const Graph& graph, std::string_view name, DomainId of, DomainKind kind) {
  const Domain& domain = graph.domain(of);
  if (domain.kind != kind)
    throw Error(fmt::format("domain '{}' must be of a {} domain, but '{}' is a {} domain", name,
                            to_string(kind), domain.name, to_string(domain.kind)));
}

/// Bounds the size of a row, so that sizes in bytes cannot overflow whatever a file contains.
void expect_row_size(std::string_view what, std::string_view name, const Dims& dims) {
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 36;
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) {
    if (dim <= 0 || dim > kMaxSize / size)
      throw Error(fmt::format("{} '{}': dimensions [{}] are out of range", what, name,
                              fmt::join(dims, ", ")));
    size *= dim;
  }
}

void expect_distance(std::string_view what, std::string_view name, std::int64_t distance) {
  if (distance < -kMaxDistance || distance > kMaxDistance)
    throw Error(fmt::format("{} '{}': {} is out of the range -{} … {}", what, name, distance,
                            kMaxDistance, kMaxDistance));
}

/// Whether the rows of both members of a pair have positions in one text.
bool members_have_positions(const Graph& graph, DomainId left, DomainId right) {
  const DomainKind kind = graph.domain(right).kind;
  return (kind == DomainKind::source && left == right) ||
         (kind == DomainKind::prefix && graph.domain(right).of == left);
}

void expect_window(const Graph& graph, std::string_view name, DomainId left, DomainId right,
                   const Window& window) {
  if (window.has_all()) return;
  if (!members_have_positions(graph, left, right))
    throw Error(fmt::format(
        "domain '{}': a window needs pairs of the tokens of one source, or of hypotheses and their "
        "prefix, not of '{}', a {} domain, and '{}', a {} domain",
        name, graph.domain(left).name, to_string(graph.domain(left).kind), graph.domain(right).name,
        to_string(graph.domain(right).kind)));
  if (window.first != -Window::kUnbounded) expect_distance("domain", name, window.first);
  if (window.last != Window::kUnbounded) expect_distance("domain", name, window.last);
  // A row without pairs would have no attention weights.
  if (window.first > 0 || window.last < 0)
    throw Error(
        fmt::format("domain '{}': a window has to contain the distance 0, but it is {} … {}", name,
                    window.first, window.last));
}

void expect_buckets(std::string_view name, const DistanceBuckets& buckets, const Domain& table) {
  const auto fail = [&](std::string_view needed) {
    throw Error(fmt::format("map '{}': the table '{}' has {} entries; {}", name, table.name,
                            table.size, needed));
  };
  if (table.size > kMaxBuckets) fail(fmt::format("at most {} are possible", kMaxBuckets));
  if (buckets.kind == DistanceBuckets::Kind::clipped) {
    if (!buckets.causal && table.size % 2 == 0)
      fail("distances -k to k need an odd number, 2k + 1");
    return;
  }
  const std::int64_t entries = buckets.causal ? table.size : table.size / 2;
  if (!buckets.causal && table.size % 2 != 0)
    fail("distances in two directions need an even number");
  if (entries < 2) fail("logarithmic buckets need two entries or more for each direction");
  if (buckets.max_distance <= entries / 2 || buckets.max_distance > kMaxBuckets)
    throw Error(
        fmt::format("map '{}': the maximum distance is {}, but has to be more than {}, the "
                    "number of entries of one distance, and at most {}",
                    name, buckets.max_distance, entries / 2, kMaxBuckets));
}

}  // namespace

std::string unused_domain_name(const Graph& graph, std::string name) {
  while (graph.find_domain(name).valid()) name += '_';
  return name;
}

void expect_name(std::string_view what, std::string_view name) {
  if (!valid_name(name))
    throw Error(fmt::format("{} name {} must be made of letters, digits, '_' and '.'", what,
                            in_quotes(name)));
}

Graph Graph::declarations() const {
  Graph bare(name_);
  bare.domains_ = domains_;
  bare.maps_ = maps_;
  bare.inputs_ = inputs_;
  return bare;
}

// --- Domains and maps ---

DomainId Graph::add_domain(Domain domain) {
  if (domains_.size() == kMaxDomains)
    throw Error(fmt::format("graph '{}' has more than {} domains", name_, kMaxDomains));
  expect_name("domain", domain.name);
  if (dtype_from_string(domain.name))
    throw Error(fmt::format("domain '{}' has the name of an element type", domain.name));
  if (find_domain(domain.name).valid())
    throw Error(fmt::format("domain '{}' is declared twice", domain.name));
  domains_.push_back(std::move(domain));
  return DomainId{static_cast<std::uint32_t>(domains_.size() - 1)};
}

MapId Graph::add_map(RowMap map) {
  if (maps_.size() == kMaxMaps)
    throw Error(fmt::format("graph '{}' has more than {} maps", name_, kMaxMaps));
  expect_name("map", map.name);
  if (find_map(map.name).valid() || find_input(map.name))
    throw Error(fmt::format("map '{}' is declared twice", map.name));
  maps_.push_back(std::move(map));
  return MapId{static_cast<std::uint32_t>(maps_.size() - 1)};
}

DomainId Graph::add_vocabulary(std::string name, std::int64_t size) {
  constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();
  if (size <= 0 || size > kMaxRows)
    throw Error(
        fmt::format("vocabulary '{}' must have 1 to {} entries, not {}", name, kMaxRows, size));
  return add_domain({.name = std::move(name), .kind = DomainKind::vocabulary, .size = size});
}

DomainId Graph::add_sentences(std::string name) {
  return add_domain(
      {.name = std::move(name), .kind = DomainKind::sentence, .binding = BindingTime::source});
}

DomainId Graph::add_owned(Domain domain, DomainKind owner) {
  expect_kind(*this, domain.name, domain.of, owner);
  const DomainId of = domain.of;
  std::string map_name = fmt::format("{}.{}", domain.name, to_string(owner));
  const DomainId id = add_domain(std::move(domain));
  add_map({.name = std::move(map_name), .from = id, .to = of});
  return id;
}

DomainId Graph::add_source(std::string name, DomainId sentences) {
  return add_owned({.name = std::move(name),
                    .kind = DomainKind::source,
                    .of = sentences,
                    .binding = BindingTime::source},
                   DomainKind::sentence);
}

DomainId Graph::add_shortlist(std::string name, DomainId sentences) {
  return add_owned({.name = std::move(name),
                    .kind = DomainKind::shortlist,
                    .of = sentences,
                    .binding = BindingTime::source},
                   DomainKind::sentence);
}

DomainId Graph::add_scan(std::string name, DomainId source, bool reversed) {
  return add_owned({.name = std::move(name),
                    .kind = DomainKind::scan,
                    .of = source,
                    .reversed = reversed,
                    .binding = BindingTime::source},
                   DomainKind::source);
}

DomainId Graph::add_parents(std::string name, DomainId sentences) {
  return add_owned({.name = std::move(name),
                    .kind = DomainKind::parent,
                    .of = sentences,
                    .binding = BindingTime::step},
                   DomainKind::sentence);
}

DomainId Graph::add_hypotheses(std::string name, DomainId parents) {
  return add_owned({.name = std::move(name),
                    .kind = DomainKind::hypothesis,
                    .of = parents,
                    .binding = BindingTime::step},
                   DomainKind::parent);
}

DomainId Graph::add_prefix(std::string name, DomainId hypotheses) {
  expect_kind(*this, name, hypotheses, DomainKind::hypothesis);
  const std::string newest = domain(hypotheses).name + ".newest";
  const DomainId id = add_domain({.name = std::move(name),
                                  .kind = DomainKind::prefix,
                                  .of = hypotheses,
                                  .binding = BindingTime::step});
  add_map({.name = newest, .from = hypotheses, .to = id, .kind = MapKind::newest});
  return id;
}

DomainId Graph::add_pairs(std::string name, DomainId left, DomainId right, Window window) {
  const DomainId sentences = sentences_of(left);
  if (!sentences.valid() || sentences != sentences_of(right))
    throw Error(fmt::format("domain '{}': '{}' and '{}' do not belong to the same sentences", name,
                            domain(left).name, domain(right).name));
  expect_window(*this, name, left, right, window);
  const BindingTime binding = std::max(domain(left).binding, domain(right).binding);
  const DomainId id = add_domain({.name = name,
                                  .kind = DomainKind::pairs,
                                  .left = left,
                                  .right = right,
                                  .window = window,
                                  .binding = binding});
  add_map({.name = name + ".left", .from = id, .to = left, .kind = MapKind::left});
  add_map({.name = name + ".right", .from = id, .to = right, .kind = MapKind::right});
  return id;
}

MapId Graph::add_word_map(std::string name, DomainId tokens, DomainId vocabulary, bool partial) {
  const DomainKind kind = domain(tokens).kind;
  if (kind != DomainKind::source && kind != DomainKind::hypothesis &&
      kind != DomainKind::shortlist && kind != DomainKind::sentence)
    throw Error(fmt::format(
        "map '{}' must start at a source, hypothesis, shortlist or sentence domain, but '{}' is a "
        "{} domain",
        name, domain(tokens).name, to_string(kind)));
  expect_kind(*this, name, vocabulary, DomainKind::vocabulary);
  return add_map({.name = std::move(name),
                  .from = tokens,
                  .to = vocabulary,
                  .kind = MapKind::word,
                  .partial = partial});
}

MapId Graph::add_neighbour_map(std::string name, DomainId tokens, std::int64_t distance) {
  const Domain& domain = this->domain(tokens);
  if (domain.kind != DomainKind::source && domain.kind != DomainKind::prefix)
    throw Error(fmt::format(
        "map '{}': neighbours are tokens of a source or prefix domain, but '{}' is a {} domain",
        name, domain.name, to_string(domain.kind)));
  expect_distance("map", name, distance);
  const bool is_prefix = domain.kind == DomainKind::prefix;
  if (distance == 0 || (is_prefix && distance > 0))
    throw Error(fmt::format("map '{}': a token of '{}' has no neighbour at the distance {}; {}",
                            name, domain.name, distance,
                            is_prefix ? "use a negative one, since words after the newest are not "
                                        "known"
                                      : "use a positive or negative one"));
  return add_map({.name = std::move(name),
                  .from = is_prefix ? domain.of : tokens,
                  .to = tokens,
                  .kind = MapKind::neighbour,
                  .partial = true,
                  .offset = distance});
}

MapId Graph::add_token_map(std::string name, DomainId source, std::int64_t position) {
  const Domain& domain = this->domain(source);
  if (domain.kind != DomainKind::source)
    throw Error(
        fmt::format("map '{}': a sentence has tokens of a source domain, but '{}' is a {} domain",
                    name, domain.name, to_string(domain.kind)));
  expect_distance("map", name, position);
  // A sentence has one token or more.
  return add_map({.name = std::move(name),
                  .from = domain.of,
                  .to = source,
                  .kind = MapKind::token,
                  .partial = position != 0 && position != -1,
                  .offset = position});
}

MapId Graph::add_position_map(std::string name, DomainId tokens, DomainId table,
                              std::int64_t offset) {
  const DomainKind kind = domain(tokens).kind;
  if (kind != DomainKind::source && kind != DomainKind::hypothesis)
    throw Error(fmt::format(
        "map '{}': positions are those of source tokens or hypotheses, but '{}' is a {} domain",
        name, domain(tokens).name, to_string(kind)));
  expect_kind(*this, name, table, DomainKind::vocabulary);
  expect_distance("map", name, offset);
  return add_map({.name = std::move(name),
                  .from = tokens,
                  .to = table,
                  .kind = MapKind::position,
                  .offset = offset});
}

MapId Graph::add_distance_map(std::string name, DomainId pairs, DomainId table,
                              DistanceBuckets buckets) {
  expect_kind(*this, name, pairs, DomainKind::pairs);
  const Domain& domain = this->domain(pairs);
  if (!members_have_positions(*this, domain.left, domain.right))
    throw Error(fmt::format(
        "map '{}': the distance of a pair needs the tokens of one source, or hypotheses and their "
        "prefix, but '{}' has pairs of '{}' and '{}'",
        name, domain.name, this->domain(domain.left).name, this->domain(domain.right).name));
  expect_kind(*this, name, table, DomainKind::vocabulary);
  expect_buckets(name, buckets, this->domain(table));
  if (std::ranges::count(maps_, MapKind::distance, &RowMap::kind) == kMaxDistanceMaps)
    throw Error(
        fmt::format("graph '{}' has more than {} maps of distances", name_, kMaxDistanceMaps));
  return add_map({.name = std::move(name),
                  .from = pairs,
                  .to = table,
                  .kind = MapKind::distance,
                  .buckets = buckets});
}

void Graph::add_input(std::string name, DomainId domain, Dims dims) {
  if (inputs_.size() == kMaxInputs)
    throw Error(fmt::format("graph '{}' has more than {} inputs", name_, kMaxInputs));
  expect_name("input", name);
  if (find_input(name) || find_map(name).valid())
    throw Error(fmt::format("input '{}' is declared twice", name));
  const DomainKind kind = this->domain(domain).kind;
  if (kind != DomainKind::source && kind != DomainKind::sentence)
    throw Error(fmt::format(
        "input '{}': numbers are supplied for source tokens or sentences, but '{}' is a {} domain",
        name, this->domain(domain).name, to_string(kind)));
  Type type{.dtype = DType::f32, .domain = domain, .dims = std::move(dims)};
  expect_row_size("input", name, type.dims);
  inputs_.push_back({std::move(name), std::move(type)});
}

std::optional<std::size_t> Graph::find_input(std::string_view name) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].name == name) return i;
  return std::nullopt;
}

const Domain& Graph::domain(DomainId id) const {
  check(id.index < domains_.size(), "a domain id of another graph");
  return domains_[id.index];
}

const RowMap& Graph::map(MapId id) const {
  check(id.index < maps_.size(), "a map id of another graph");
  return maps_[id.index];
}

DomainId Graph::find_domain(std::string_view name) const {
  for (std::uint32_t i = 0; i < domains_.size(); ++i)
    if (domains_[i].name == name) return DomainId{i};
  return {};
}

MapId Graph::find_map(std::string_view name) const {
  for (std::uint32_t i = 0; i < maps_.size(); ++i)
    if (maps_[i].name == name) return MapId{i};
  return {};
}

MapId Graph::map_of(DomainId domain, MapKind kind) const {
  for (std::uint32_t i = 0; i < maps_.size(); ++i)
    if (maps_[i].from == domain && maps_[i].kind == kind) return MapId{i};
  check(false, "a domain has no map of that kind");
  return {};
}

std::optional<MapPath> Graph::structural_path(DomainId from, DomainId to) const {
  MapPath path;
  while (from != to) {
    const Domain& at = domain(from);
    if (!at.of.valid() || at.kind == DomainKind::prefix) return std::nullopt;
    path.push_back(map_of(from, MapKind::structural));
    from = at.of;
  }
  return path;
}

Dims Graph::stored_shape(const Type& type) const {
  Dims shape = type.dims;
  if (const Domain& rows = domain(type.domain); rows.kind == DomainKind::vocabulary)
    shape.insert(shape.begin(), rows.size);
  return shape;
}

bool Graph::is_partial(const MapPath& path) const {
  return std::any_of(path.begin(), path.end(), [this](MapId id) { return map(id).partial; });
}

DomainId Graph::sentences_of(DomainId id) const {
  while (true) {
    const Domain& at = domain(id);
    if (at.kind == DomainKind::sentence) return id;
    if (at.kind == DomainKind::pairs)
      id = at.left;
    else if (at.of.valid())
      id = at.of;
    else
      return {};
  }
}

}  // namespace fuselage
