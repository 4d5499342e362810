// The minimal build has no reference interpreter, so there is nothing to compare with.
#include "fuselage/backends/compare_with_reference.h"

#include "fuselage/base/error.h"

namespace fuselage {

// NOLINTNEXTLINE(performance-unnecessary-value-param): as it is declared
NodeComparison compare_with_reference(Graph, const TensorMap&, const CompileOptions&,
                                      std::span<const NamedRows>, const NodeTolerances&,
                                      std::size_t) {
  throw Error(
      "this build has no reference interpreter to compare nodes with; compare on another system");
}

}  // namespace fuselage
