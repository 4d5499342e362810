#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fuselage/graph/text.h"
#include "fuselage/inspect/op_table.h"
#include "inspect/op_values.h"

namespace fuselage {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kOpListVersion = 1;

std::string programs_of(const OpKernels& kernels) {
  std::vector<std::string_view> names;
  for (const BindingTime program : kernels.programs) names.push_back(to_string(program));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has_kernels(const OpEntry& entry) {
  return std::any_of(entry.kernels.begin(), entry.kernels.end(),
                     [](const OpKernels& kernels) { return !kernels.kernels.empty(); });
}

/// The part of an operand's description that differs from a single value of the row itself.
std::string operand_note(const OperandSpec& operand) {
  std::vector<std::string> notes;
  if (operand.arity != OperandSpec::Arity::one) notes.emplace_back(arity_in_words(operand.arity));
  if (!operand.through.empty()) notes.push_back(fmt::format("read through {}", operand.through));
  return fmt::format("{}", fmt::join(notes, ", "));
}

std::string attribute_note(const AttrSpec& attribute) {
  std::string note =
      attribute.default_value
          ? fmt::format("{}, default {}", to_string(attribute.kind), print_default(attribute))
          : fmt::format("{}, required", to_string(attribute.kind));
  if (!attribute.former_name.empty()) note += fmt::format(", formerly {}", attribute.former_name);
  return note;
}

std::string print_op(const OpEntry& entry) {
  const OpDef& op = *entry.op;
  std::string text = fmt::format("{}\n  {}\n", signature_of(op), op.summary);
  const auto add_line = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12}{}\n", title, value);
  };
  const auto add_item = [&](std::string_view title, std::string_view name,
                            const std::string& note) {
    add_line(title, note.empty() ? std::string(name) : fmt::format("{}: {}", name, note));
  };
  for (const OperandSpec& operand : op.operands)
    add_item("operand", operand.name, operand_note(operand));
  for (const AttrSpec& attribute : op.attributes)
    add_item("attribute", attribute.name, attribute_note(attribute));
  add_line("traits", fmt::format("{}", fmt::join(traits_in_words(op), "; ")));
  if (op.decompose) add_line("fused", "defined by plain ops");
  add_line("family", std::string(op.family));
  add_line("formerly", fmt::format("{}", fmt::join(op.former_names, ", ")));
  for (const OpKernels& kernels : entry.kernels)
    if (!kernels.kernels.empty())
      add_line("kernels", fmt::format("{} ({}): {}", kernels.backend, programs_of(kernels),
                                      fmt::join(kernels.kernels, ", ")));
  return text;
}

Json json_of(const OpEntry& entry) {
  const OpDef& op = *entry.op;
  Json operands = Json::array(), attributes = Json::array(), kernels = Json::array();
  for (const OperandSpec& operand : op.operands)
    operands.push_back({{"name", operand.name},
                        {"arity", arity_in_words(operand.arity)},
                        {"through", operand.through}});
  for (const AttrSpec& attribute : op.attributes) {
    Json json = {{"name", attribute.name}, {"type", to_string(attribute.kind)}};
    if (attribute.default_value) json["default"] = print_default(attribute);
    attributes.push_back(std::move(json));
  }
  for (const OpKernels& of_backend : entry.kernels) {
    Json programs = Json::array();
    for (const BindingTime program : of_backend.programs) programs.push_back(to_string(program));
    kernels.push_back({{"backend", of_backend.backend},
                       {"programs", std::move(programs)},
                       {"kernels", of_backend.kernels}});
  }
  return {{"name", op.name},
          {"summary", op.summary},
          {"family", op.family},
          {"signature", signature_of(op)},
          {"operands", std::move(operands)},
          {"attributes", std::move(attributes)},
          {"traits", traits_in_words(op)},
          {"fused", op.decompose != nullptr},
          {"former_names", op.former_names},
          {"kernels", std::move(kernels)}};
}

/// "`a`, `b`".
template <typename Names>
std::string in_code(const Names& names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(fmt::format("`{}`", name));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

std::string section_of(const OpEntry& entry) {
  const OpDef& op = *entry.op;
  std::string text =
      fmt::format("### {}\n\n```text\n{}\n```\n\n{}\n", op.name, signature_of(op), op.summary);
  std::string items;
  for (const OperandSpec& operand : op.operands)
    if (const std::string note = operand_note(operand); !note.empty())
      items += fmt::format("* operand `{}`: {}\n", operand.name, note);
  for (const AttrSpec& attribute : op.attributes)
    items += fmt::format("* attribute `{}`: {}\n", attribute.name, attribute_note(attribute));
  if (const auto traits = traits_in_words(op); !traits.empty())
    items += fmt::format("* traits: {}\n", fmt::join(traits, "; "));
  if (op.decompose) items += "* fused: defined by plain ops\n";
  if (!op.former_names.empty()) items += fmt::format("* formerly: {}\n", in_code(op.former_names));
  for (const OpKernels& kernels : entry.kernels)
    if (!kernels.kernels.empty())
      items += fmt::format("* kernels, {} ({}): {}\n", kernels.backend, programs_of(kernels),
                           in_code(kernels.kernels));
  if (!has_kernels(entry)) items += "* no kernels\n";
  return text + (items.empty() ? "" : "\n" + items) + "\n";
}

constexpr std::string_view kIntroduction =
    R"(# Ops

All ops of Fuselage, from their definitions. `fuselage ops NAME` prints one of them, also one that an
extension registers (`--extension FILE`). This page is generated: `fuselage ops --format markdown >
docs/ops.md`. [add-an-op.md](add-an-op.md) explains definitions, [graph-text.md](graph-text.md) the text
form.

* **Signature**: an operand in brackets may be missing; before `…` it may be repeated. An attribute has
  its default or, if it is required, its type. A `path` is a list of row maps.
* **Read through** a path: a result row reads the operand's rows at the end of that path. Other operands
  are read at the result's own rows, or have no rows, unless the summary says otherwise.
* **Traits** are promises that rules and the planner rely on: [architecture.md](architecture.md#row-domains).
* **Fused** ops are made by passes. Each is defined by plain ops with the same results; with the attribute
  `quantized` it also gives some of its results quantized.
* **Kernels** are listed for each back-end and its programs, best first. A node runs on the first one that
  does not refuse it. `reference` is the slow reference evaluation. Ops without kernels are values that
  are stored.

`fuselage ops --format json` gives the same as an object: `format` (`fuselage.ops`), `version`, and
`ops`, each with `name`, `summary`, `family` (its file in `ops/`; empty for an extension's op),
`signature`, `operands` (`name`, `arity`, `through`), `attributes` (`name`, `type`, and unless it is
required `default`, as the text form writes it), `traits`, `fused`, `former_names` and `kernels`
(`backend`, `programs`, `kernels`).

)";

std::string family_title(const OpDef& op) {
  return op.family.empty() ? "Extensions" : fmt::format("ops/{}.cpp", op.family);
}

}  // namespace

std::string print_default(const AttrSpec& attribute) {
  // A default domain is the one without rows, and a default path is empty, so no graph is needed.
  const Attr& value = attribute.default_value.value();
  return attribute.kind == AttrKind::domain ? "none" : print_attribute(Graph(""), value);
}

std::string_view arity_in_words(OperandSpec::Arity arity) {
  constexpr std::array<std::string_view, 4> kWords{"one", "optional", "one or more", "any number"};
  return kWords[static_cast<std::size_t>(arity)];
}

std::string print_op_list(std::span<const OpEntry> ops) {
  std::size_t width = 0;
  for (const OpEntry& entry : ops) width = std::max(width, entry.op->name.size());
  std::string text;
  for (const OpEntry& entry : ops)
    text += fmt::format("{:<{}}  {}\n", entry.op->name, width, entry.op->summary);
  return text;
}

std::string print_ops(std::span<const OpEntry> ops) {
  std::string text;
  for (const OpEntry& entry : ops) text += (text.empty() ? "" : "\n") + print_op(entry);
  return text;
}

std::string print_ops_json(std::span<const OpEntry> ops) {
  Json list = Json::array();
  for (const OpEntry& entry : ops) list.push_back(json_of(entry));
  const Json json = {
      {"format", "fuselage.ops"}, {"version", kOpListVersion}, {"ops", std::move(list)}};
  // Texts of extensions may be invalid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string print_ops_page(std::span<const OpEntry> ops) {
  std::string text(kIntroduction);
  std::string title;
  for (const OpEntry& entry : ops) {
    if (std::string next = family_title(*entry.op); next != title) {
      title = std::move(next);
      text += fmt::format("## {}\n\n", title);
    }
    text += section_of(entry);
  }
  text.pop_back();
  return text;
}

}  // namespace fuselage
