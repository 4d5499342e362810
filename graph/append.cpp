#include "graph/append.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

class Appender {
 public:
  Appender(Graph& whole, const Graph& part, const std::string& prefix)
      : whole_(whole),
        part_(part),
        prefix_(prefix),
        domains_(part.domain_count()),
        values_(part.value_limit()) {
    check(&whole != &part, "a graph is appended to itself");
    check(valid_name(prefix), "a prefix that names cannot have");
  }

  std::vector<ValueId> append() {
    domains_[part_.none().index] = whole_.none();
    // Vocabularies come last: they are matched by the domains that their word maps start from.
    for (const bool vocabularies : {false, true})
      for (std::uint32_t i = 1; i < part_.domain_count(); ++i)
        if ((part_.domain(DomainId{i}).kind == DomainKind::vocabulary) == vocabularies)
          domains_[i] = place_domain(DomainId{i});
    for (std::uint32_t i = 0; i < part_.map_count(); ++i)
      maps_.push_back(place_map(part_.map(MapId{i})));
    for (const Input& input : part_.inputs()) place_input(input);
    for (const NodeId id : topological_order(part_)) copy(id);
    return std::move(values_);
  }

 private:
  DomainId in_whole(DomainId id) const { return id.valid() ? domains_.at(id.index) : id; }

  /// Whether a domain of the part is already placed at `id`.
  bool taken(DomainId id) const {
    return std::find(domains_.begin(), domains_.end(), id) != domains_.end();
  }

  std::string unused_name(std::string name) const {
    while (whole_.find_domain(name).valid() || whole_.find_map(name).valid())
      name.insert(0, prefix_);
    return name;
  }

  DomainId place_domain(DomainId id) {
    Domain domain = part_.domain(id);
    domain.of = in_whole(domain.of);
    domain.left = in_whole(domain.left);
    domain.right = in_whole(domain.right);
    const DomainId same =
        domain.kind == DomainKind::vocabulary ? find_vocabulary(id) : find_rows(domain);
    return same.valid() ? same : declare(domain);
  }

  /// A domain of the whole with the same rows as `wanted`; invalid if there is none.
  DomainId find_rows(const Domain& wanted) const {
    // One scan may depend on the result of another, so scans cannot be merged.
    if (wanted.kind == DomainKind::scan) return {};
    for (std::uint32_t i = 1; i < whole_.domain_count(); ++i) {
      const Domain& domain = whole_.domain(DomainId{i});
      if (domain.kind == wanted.kind && domain.of == wanted.of && domain.left == wanted.left &&
          domain.right == wanted.right && domain.window == wanted.window && !taken(DomainId{i}))
        return DomainId{i};
    }
    return {};
  }

  /// A vocabulary of the whole with a word map from the same domain as vocabulary `id` of the part.
  DomainId find_vocabulary(DomainId id) const {
    for (std::uint32_t i = 0; i < part_.map_count(); ++i) {
      const RowMap& words = part_.map(MapId{i});
      if (words.to != id) continue;
      for (std::uint32_t j = 0; j < whole_.map_count(); ++j) {
        const RowMap& map = whole_.map(MapId{j});
        if (map.kind == words.kind && map.from == in_whole(words.from) &&
            whole_.domain(map.to).size == part_.domain(id).size && !taken(map.to))
          return map.to;
      }
    }
    return {};
  }

  DomainId declare(const Domain& domain) {
    std::string name = unused_name(domain.name);
    switch (domain.kind) {
      case DomainKind::none:
        break;
      case DomainKind::vocabulary:
        return whole_.add_vocabulary(std::move(name), domain.size);
      case DomainKind::sentence:
        return whole_.add_sentences(std::move(name));
      case DomainKind::source:
        return whole_.add_source(std::move(name), domain.of);
      case DomainKind::shortlist:
        return whole_.add_shortlist(std::move(name), domain.of);
      case DomainKind::scan:
        return whole_.add_scan(std::move(name), domain.of, domain.reversed);
      case DomainKind::parent:
        return whole_.add_parents(std::move(name), domain.of);
      case DomainKind::hypothesis:
        return whole_.add_hypotheses(std::move(name), domain.of);
      case DomainKind::prefix:
        return whole_.add_prefix(std::move(name), domain.of);
      case DomainKind::pairs:
        return whole_.add_pairs(std::move(name), domain.left, domain.right, domain.window);
    }
    check(false, "a domain of a kind that cannot be declared");
    return {};
  }

  /// The map of the whole equivalent to `map`; declared if there is none.
  MapId place_map(const RowMap& map) {
    const DomainId from = in_whole(map.from);
    const DomainId to = in_whole(map.to);
    for (std::uint32_t i = 0; i < whole_.map_count(); ++i) {
      const RowMap& other = whole_.map(MapId{i});
      if (other.kind == map.kind && other.from == from && other.to == to &&
          other.partial == map.partial && other.offset == map.offset &&
          other.buckets == map.buckets)
        return MapId{i};
    }
    return declare(map, from, to);
  }

  MapId declare(const RowMap& map, DomainId from, DomainId to) {
    std::string name = unused_name(map.name);
    switch (map.kind) {
      case MapKind::word:
        return whole_.add_word_map(std::move(name), from, to, map.partial);
      case MapKind::neighbour:
        return whole_.add_neighbour_map(std::move(name), to, map.offset);
      case MapKind::token:
        return whole_.add_token_map(std::move(name), to, map.offset);
      case MapKind::position:
        return whole_.add_position_map(std::move(name), from, to, map.offset);
      case MapKind::distance:
        return whole_.add_distance_map(std::move(name), from, to, map.buckets);
      default:
        check(false, "a domain was declared without its maps");
        return {};
    }
  }

  /// Parts read the same inputs, as they read the same words.
  void place_input(const Input& input) {
    const DomainId domain = in_whole(input.type.domain);
    const auto same = whole_.find_input(input.name);
    if (!same) {
      whole_.add_input(input.name, domain, input.type.dims);
      return;
    }
    const Type& type = whole_.inputs()[*same].type;
    if (type.domain != domain || type.dims != input.type.dims)
      throw Error(fmt::format("input '{}' is {} in one model and {} in another", input.name,
                              whole_.show(type), part_.show(input.type)));
  }

  Attr in_whole(const Attr& attr) const {
    if (const auto* domain = std::get_if<DomainId>(&attr)) return in_whole(*domain);
    const auto* path = std::get_if<MapPath>(&attr);
    if (path == nullptr) return attr;
    MapPath result;
    for (const MapId map : *path) result.push_back(maps_.at(map.index));
    return result;
  }

  std::vector<Attr> attributes(const Node& node) const {
    std::vector<Attr> attrs;
    for (const Attr& attr : node.attrs) attrs.push_back(in_whole(attr));
    if (node.has(Trait::external))
      attrs.at(node.op->attribute_index("name").value()) = prefix_ + node.as<ExternalName>().name;
    return attrs;
  }

  void copy(NodeId id) {
    const Node& node = part_.node(id);
    std::vector<ValueId> operands;
    for (const ValueId operand : node.operands) operands.push_back(values_.at(operand.index));
    const NodeId copied =
        whole_.add_node_with_attrs(*node.op, std::move(operands), attributes(node), node.location);
    Provenance provenance = node.provenance;
    for (std::string& origin : provenance.origins) origin.insert(0, prefix_);
    whole_.set_provenance(copied, std::move(provenance));
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const ValueId result = whole_.result(copied, i);
      values_.at(node.results[i].index) = result;
      if (const std::string& name = part_.value(node.results[i]).name; !name.empty())
        whole_.set_value_name(result, prefix_ + name);
    }
  }

  Graph& whole_;
  const Graph& part_;
  const std::string& prefix_;
  std::vector<DomainId> domains_;  ///< ids in the whole, by index in the part
  std::vector<MapId> maps_;
  std::vector<ValueId> values_;
};

}  // namespace

std::vector<ValueId> append_graph(Graph& whole, const Graph& part, const std::string& prefix) {
  return Appender(whole, part, prefix).append();
}

}  // namespace fuselage
