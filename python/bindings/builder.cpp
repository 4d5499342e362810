#include "fuselage/ops/builder.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fuselage/graph/verifier.h"
#include "python/bindings/bindings.h"
#include "python/bindings/expr.h"
#include "python/bindings/text.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace fuselage;

namespace {

/// A builder as expressions share it.
struct BoundBuilder {
  std::shared_ptr<Builder> builder;

  Graph& graph() const { return builder->graph(); }
  BoundExpr bind(Expr expr) const { return {builder, expr}; }
};

/// Names values during a `with` block.
class BoundScope {
 public:
  BoundScope(BoundBuilder builder, std::string name)
      : builder_(std::move(builder)), name_(std::move(name)) {}

  void enter() { scope_ = std::make_unique<Builder::Scope>(*builder_.builder, name_); }
  void leave() { scope_.reset(); }

 private:
  BoundBuilder builder_;
  std::string name_;
  std::unique_ptr<Builder::Scope> scope_;
};

using Cls = nb::class_<BoundBuilder>;

void bind_domains(Cls& cls) {
  cls.def(
         "add_vocabulary",
         [](BoundBuilder& self, Text name, std::int64_t size) {
           return self.graph().add_vocabulary(std::move(name), size);
         },
         "name"_a, "size"_a, "A domain with a row for each word.")
      .def(
          "add_sentences",
          [](BoundBuilder& self, Text name) { return self.graph().add_sentences(std::move(name)); },
          "name"_a, "A domain with a row for each sentence.")
      .def(
          "add_source",
          [](BoundBuilder& self, Text name, DomainId sentences) {
            return self.graph().add_source(std::move(name), sentences);
          },
          "name"_a, "sentences"_a, "A domain with a row for each source token.")
      .def(
          "add_scan",
          [](BoundBuilder& self, Text name, DomainId source, bool reversed) {
            return self.graph().add_scan(std::move(name), source, reversed);
          },
          "name"_a, "source"_a, "reversed"_a = false, "A loop over the positions of a source.")
      .def(
          "add_parents",
          [](BoundBuilder& self, Text name, DomainId sentences) {
            return self.graph().add_parents(std::move(name), sentences);
          },
          "name"_a, "sentences"_a,
          "A domain with a row for each hypothesis of the last step that has children.")
      .def(
          "add_hypotheses",
          [](BoundBuilder& self, Text name, DomainId parents) {
            return self.graph().add_hypotheses(std::move(name), parents);
          },
          "name"_a, "parents"_a, "A domain with a row for each live hypothesis.")
      .def(
          "add_prefix",
          [](BoundBuilder& self, Text name, DomainId hypotheses) {
            return self.graph().add_prefix(std::move(name), hypotheses);
          },
          "name"_a, "hypotheses"_a, "A domain with a row for each generated word.")
      .def(
          "add_pairs",
          [](BoundBuilder& self, Text name, DomainId left, DomainId right,
             std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
            Window window;
            if (first) window.first = *first;
            if (last) window.last = *last;
            return self.graph().add_pairs(std::move(name), left, right, window);
          },
          "name"_a, "left"_a, "right"_a, "first"_a = nb::none(), "last"_a = nb::none(),
          "A domain with a row for each pair of the same sentence, if its distance, the position "
          "of "
          "the right member minus that of the left one, is between first and last.");
}

void bind_maps(Cls& cls) {
  cls.def(
         "add_word_map",
         [](BoundBuilder& self, Text name, DomainId tokens, DomainId vocabulary, bool partial) {
           return self.graph().add_word_map(std::move(name), tokens, vocabulary, partial);
         },
         "name"_a, "tokens"_a, "vocabulary"_a, "partial"_a = false,
         "A map from tokens to vocabulary entries; partial: tokens may have none yet.")
      .def(
          "add_neighbour_map",
          [](BoundBuilder& self, Text name, DomainId tokens, std::int64_t distance) {
            return self.graph().add_neighbour_map(std::move(name), tokens, distance);
          },
          "name"_a, "tokens"_a, "distance"_a,
          "A map from each token to the token so many positions later.")
      .def(
          "add_token_map",
          [](BoundBuilder& self, Text name, DomainId source, std::int64_t position) {
            return self.graph().add_token_map(std::move(name), source, position);
          },
          "name"_a, "source"_a, "position"_a,
          "A map from each sentence to its token at a position; -1 is the last token, 0 the first.")
      .def(
          "add_position_map",
          [](BoundBuilder& self, Text name, DomainId tokens, DomainId table, std::int64_t offset) {
            return self.graph().add_position_map(std::move(name), tokens, table, offset);
          },
          "name"_a, "tokens"_a, "table"_a, "offset"_a = 0,
          "A map from tokens to the entries of a table, by position + offset.")
      .def(
          "add_distance_map",
          [](BoundBuilder& self, Text name, DomainId pairs, DomainId table,
             std::int64_t max_distance, bool causal) {
            using enum DistanceBuckets::Kind;
            return self.graph().add_distance_map(std::move(name), pairs, table,
                                                 {.kind = max_distance == 0 ? clipped : logarithmic,
                                                  .max_distance = max_distance,
                                                  .causal = causal});
          },
          "name"_a, "pairs"_a, "table"_a, "max_distance"_a = 0, "causal"_a = false,
          "A map from pairs to the entries of a table, by distance: clipped to the table, or with "
          "a "
          "max_distance in logarithmic buckets.");
}

void bind_values(Cls& cls) {
  cls.def(
         "param",
         [](BoundBuilder& self, const Text& name, Dims dims, std::optional<DomainId> domain) {
           return self.bind(self.builder->param(name, std::move(dims),
                                                domain.value_or(self.graph().none()), DType::f32,
                                                python_location()));
         },
         "name"_a, "dims"_a, "domain"_a = nb::none(),
         "A stored weight; a table with a row for each entry has a vocabulary domain.")
      .def(
          "constant",
          [](BoundBuilder& self, double number, Dims dims) {
            return self.bind(self.builder->constant(number, std::move(dims), python_location()));
          },
          "number"_a, "dims"_a = Dims(), "A constant filled with a number.")
      .def(
          "input",
          [](BoundBuilder& self, const Text& name, DomainId domain, Dims dims) {
            return self.bind(self.builder->input(name, domain, std::move(dims), python_location()));
          },
          "name"_a, "domain"_a, "dims"_a,
          "Numbers from the caller for each row of a source or sentence domain.")
      .def(
          "position",
          [](BoundBuilder& self, DomainId domain) {
            return self.bind(self.builder->position(domain, python_location()));
          },
          "domain"_a, "Position of each row of a source or hypothesis domain.")
      .def(
          "state",
          [](BoundBuilder& self, const BoundExpr& init, DomainId domain) {
            return self.bind(self.builder->state(init.expr, domain, python_location()));
          },
          "init"_a, "domain"_a,
          "A value carried through the loop of a scan or parent domain, first init.")
      .def(
          "next",
          [](BoundBuilder& self, const BoundExpr& state, const BoundExpr& value) {
            self.builder->next(state.expr, value.expr, python_location());
          },
          "state"_a, "value"_a, "Sets the value of a state in the next iteration.")
      .def(
          "output",
          [](BoundBuilder& self, Text name, const BoundExpr& value) {
            self.builder->output(std::move(name), value.expr);
          },
          "name"_a, "value"_a, "Names a result of the graph.");
}

}  // namespace

void bind_builder(nb::module_& module) {
  const nb::class_<DomainId> domain(module, "Domain", "A declared set of rows.");
  const nb::class_<MapId> map(module, "Map", "A declared map between the rows of two domains.");
  nb::class_<BoundScope>(module, "Scope")
      .def("__enter__", &BoundScope::enter)
      .def(
          "__exit__",
          [](BoundScope& self, const nb::handle&, const nb::handle&, const nb::handle&) {
            self.leave();
          },
          "kind"_a.none(), "error"_a.none(), "trace"_a.none());
  Cls cls(module, "Builder",
          "Builds a graph: declare domains and maps, write equations, name outputs.");
  cls.def(
      "__init__",
      [](BoundBuilder* self, Text name) {
        new (self) BoundBuilder{std::make_shared<Builder>(std::move(name))};
      },
      "name"_a);
  bind_domains(cls);
  bind_maps(cls);
  bind_values(cls);
  cls.def(
         "scope", [](BoundBuilder& self, Text name) { return BoundScope(self, std::move(name)); },
         "name"_a, "A context in which unnamed values are named after the scope and their op.")
      .def(
          "build",
          [](const BoundBuilder& self) {
            verify(self.graph());
            return std::make_shared<Graph>(self.graph());
          },
          "The graph of all that has been declared so far.");
}
