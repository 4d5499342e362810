#include "fuselage/graph/row_table.h"

#include "fuselage/base/error.h"

namespace fuselage {

RowTable::RowTable(const Graph& graph)
    : domains_(graph.domain_count()), maps_(graph.map_count()), inputs_(graph.inputs().size()) {
  domains_[graph.none().index].rows = 1;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::vocabulary)
      domains_[i].rows = graph.domain(DomainId{i}).size;
}

void RowTable::resolve(const MapPath& path, std::vector<std::int32_t>& out) const {
  check(!path.empty(), "an empty path of maps has no index");
  const auto first = index(path.front());
  out.assign(first.begin(), first.end());
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto next = index(path[i]);
    for (std::int32_t& row : out)
      if (row >= 0) row = next[static_cast<std::size_t>(row)];
  }
}

}  // namespace fuselage
