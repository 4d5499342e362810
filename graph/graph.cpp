#include "fuselage/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "fuselage/base/error.h"
#include "graph/infer_types.h"
#include "graph/names.h"

namespace fuselage {
namespace {

/// Fills in defaults and checks the kinds of named attributes.
std::vector<Attr> complete_attrs(const OpDef& op, const AttrList& given) {
  std::vector<std::optional<Attr>> slots(op.attributes.size());
  for (const auto& [name, value] : given) {
    const auto index = op.attribute_index(name);
    if (!index) throw Error(fmt::format("{}: it has no attribute '{}'", op.name, name));
    if (slots[*index]) throw Error(fmt::format("{}: attribute '{}' is given twice", op.name, name));
    slots[*index] = value;
  }
  std::vector<Attr> attrs;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) slots[i] = op.attributes[i].default_value;
    if (!slots[i])
      throw Error(fmt::format("{}: attribute '{}' is missing", op.name, op.attributes[i].name));
    attrs.push_back(std::move(*slots[i]));
  }
  return attrs;
}

void check_attr_kinds(const OpDef& op, const std::vector<Attr>& attrs) {
  check(attrs.size() == op.attributes.size(),
        "a node has another number of attributes than its op");
  for (std::size_t i = 0; i < attrs.size(); ++i)
    if (attrs[i].index() != static_cast<std::size_t>(op.attributes[i].kind))
      throw Error(fmt::format("{}: attribute '{}' must be of kind {}, not {}", op.name,
                              op.attributes[i].name, to_string(op.attributes[i].kind),
                              to_string(static_cast<AttrKind>(attrs[i].index()))));
}

void check_operand_count(const OpDef& op, std::size_t count) {
  std::size_t least = op.operands.size();
  std::size_t most = op.operands.size();
  if (!op.operands.empty()) {
    using Arity = OperandSpec::Arity;
    const Arity last = op.operands.back().arity;
    if (last == Arity::optional || last == Arity::any_number) --least;
    if (last == Arity::repeated || last == Arity::any_number) most = SIZE_MAX;
  }
  if (count < least || count > most)
    throw Error(fmt::format(
        "{}: it takes {}{} operands, not {}", op.name, most == SIZE_MAX ? "at least " : "",
        least == most || most == SIZE_MAX ? fmt::format("{}", least)
                                          : fmt::format("{} or {}", least, most),
        count));
}

/// Bounds the size of a result, so that sizes in bytes cannot overflow whatever a file contains.
void check_size(const Graph& graph, const Node& node, const Type& type) {
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 36;
  const Domain& domain = graph.domain(type.domain);
  std::int64_t size = domain.kind == DomainKind::vocabulary ? domain.size : 1;
  for (const std::int64_t dim : type.dims) {
    if (dim <= 0 || dim > kMaxSize / size)
      throw Error(
          fmt::format("{}: its result {} is out of range", graph.describe(node), graph.show(type)));
    size *= dim;
  }
}

}  // namespace

Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Graph::Graph(std::string name) : name_(std::move(name)) {
  domains_.push_back(Domain{.name = "none"});
}

// --- Nodes ---

const MapPath* Node::path_of_operand(std::size_t i) const {
  if (i >= op->operands.size() || op->operands[i].through.empty()) return nullptr;
  return &std::get<MapPath>(attrs[attr_index(op->operands[i].through)]);
}

void Node::expect_op(std::string_view name) const {
  if (op->name != name)
    throw InternalError(fmt::format("internal error: a {} node is read as {}", op->name, name));
}

std::size_t Node::attr_index(std::string_view name) const {
  const auto index = op->attribute_index(name);
  if (!index)
    throw InternalError(fmt::format("internal error: {} has no attribute '{}'", op->name, name));
  return *index;
}

NodeId Graph::add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs,
                       Location location) {
  return add_node_with_attrs(op, std::move(operands), complete_attrs(op, attrs),
                             std::move(location));
}

NodeId Graph::add_node_with_attrs(const OpDef& op, std::vector<ValueId> operands,
                                  std::vector<Attr> attrs, Location location) {
  check_attr_kinds(op, attrs);
  check_operand_count(op, operands.size());
  for (const ValueId operand : operands) value(operand);

  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  Node made{.op = &op,
            .operands = std::move(operands),
            .attrs = std::move(attrs),
            .location = std::move(location)};
  std::vector<Type> types = infer_types(*this, made);
  for (const Type& type : types) check_size(*this, made, type);

  for (std::uint32_t i = 0; i < made.operands.size(); ++i)
    mutable_value(made.operands[i]).uses.push_back({id, i});
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    made.results.push_back(ValueId{static_cast<std::uint32_t>(values_.size())});
    values_.push_back(Value{.type = std::move(types[i]), .producer = id, .result = i});
  }
  nodes_.push_back(std::move(made));
  ++live_nodes_;
  return id;
}

const Node& Graph::node(NodeId id) const {
  check(id.index < nodes_.size(), "the id of a node of another graph");
  const Node& found = nodes_[id.index];
  check(found.op, "the id of a removed node, or of a node of another graph");
  return found;
}

const Value& Graph::value(ValueId id) const {
  check(id.index < values_.size(), "the id of a value of another graph");
  const Value& found = values_[id.index];
  check(found.producer.valid(), "the id of a removed value, or of a value of another graph");
  return found;
}

Value& Graph::mutable_value(ValueId id) { return const_cast<Value&>(value(id)); }

std::vector<NodeId> Graph::nodes() const {
  std::vector<NodeId> ids;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].op) ids.push_back(NodeId{i});
  return ids;
}

void Graph::set_provenance(NodeId id, Provenance provenance) {
  node(id);
  nodes_[id.index].provenance = std::move(provenance);
}

void Graph::add_output(std::string name, ValueId id) {
  value(id);
  expect_name("output", name);
  if (find_output(name).valid()) throw Error(fmt::format("output '{}' is given twice", name));
  outputs_.push_back({std::move(name), id});
}

bool Graph::is_output(ValueId id) const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [id](const Output& output) { return output.value == id; });
}

ValueId Graph::find_output(std::string_view name) const {
  for (const Output& output : outputs_)
    if (output.name == name) return output.value;
  return {};
}

// --- Edits ---

void Graph::remove_use(ValueId id, Use use) {
  auto& uses = mutable_value(id).uses;
  const auto at = std::find(uses.begin(), uses.end(), use);
  check(at != uses.end(), "a use is missing from a value's list");
  uses.erase(at);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  check(value(from).type == value(to).type, "a replacement has another type");
  if (from == to) return;
  const std::vector<Use> uses = value(from).uses;
  for (const Use& use : uses) set_operand(use, to);
  for (Output& output : outputs_)
    if (output.value == from) output.value = to;
}

void Graph::set_operand(Use use, ValueId id) {
  node(use.node);
  value(id);
  ValueId& slot = nodes_[use.node.index].operands.at(use.operand);
  remove_use(slot, use);
  slot = id;
  mutable_value(id).uses.push_back(use);
}

void Graph::remove_node(NodeId id) {
  const Node& removed = node(id);
  for (const ValueId result : removed.results)
    check(value(result).uses.empty() && !is_output(result), "a removed node is still used");
  for (std::uint32_t i = 0; i < removed.operands.size(); ++i)
    remove_use(removed.operands[i], {id, i});
  for (const ValueId result : removed.results) values_[result.index].producer = {};
  nodes_[id.index] = Node{};
  --live_nodes_;
}

BindingTime Graph::binding(NodeId id) const {
  const Node& at = node(id);
  BindingTime time = BindingTime::load;
  for (const ValueId value : at.results.empty() ? at.operands : at.results)
    time = std::max(time, binding(value));
  return time;
}

// --- Messages ---

std::string Graph::show(const Type& type) const {
  std::string row = fmt::format("{}[{}]", to_string(type.dtype), fmt::join(type.dims, ", "));
  if (type.domain == none()) return row;
  return fmt::format("{} {}", domain(type.domain).name, row);
}

std::string Graph::describe(NodeId id) const { return describe(node(id)); }

std::string Graph::describe(const Node& node) const {
  std::string text{node.op->name};
  if (!node.results.empty() && !value(node.results[0]).name.empty())
    text += fmt::format(" '{}'", value(node.results[0]).name);
  if (!node.location.file.empty())
    text += fmt::format(" ({}:{})", node.location.file, node.location.line);
  return text;
}

}  // namespace fuselage
