#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/registrant.h"
#include "base/suggest.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"

namespace fuselage {
namespace {

bool repeats(Dims numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

/// The reason why a kernel cannot run a node; empty: it can.
std::string refusal(const KernelInfo& kernel, const Graph& graph, const Node& node) {
  if (!quantized_results(node).empty()) {
    const bool rounds = is_half(node.as<op::Quantization>().to);
    if (rounds && repeats(quantized_results(node))) return "it rounds a result once";
    if (!(rounds ? kernel.rounds : kernel.quantizes))
      return rounds ? "it does not round results" : "it does not quantize results";
  }
  if (!kernel.refuse) return "";
  try {
    return kernel.refuse(graph, node);
  } catch (...) {
    rethrow_for(kernel.registered_by, fmt::format("kernel '{}'", kernel.name));
  }
}

}  // namespace

void check_kernels(const KernelSet& kernels) {
  for (const KernelInfo* kernel : kernels) {
    if (kernel->op == "*" || all_ops().find(kernel->op)) continue;
    std::vector<std::string_view> known;
    for (const OpDef* op : all_ops().all()) known.push_back(op->name);
    throw InternalError(fmt::format("internal error: kernel '{}' runs '{}', which is no op{}",
                                    kernel->name, kernel->op, did_you_mean(kernel->op, known)));
  }
}

KernelChoice choose_kernel(const Graph& graph, const Node& node, const KernelSet& kernels) {
  KernelChoice choice;
  for (const KernelInfo* kernel : kernels) {
    if (kernel->op != node.op->name && kernel->op != "*") continue;
    std::string reason = refusal(*kernel, graph, node);
    if (reason.empty()) {
      choice.kernel = kernel;
      return choice;
    }
    choice.rejections.push_back({kernel->name, std::move(reason)});
  }
  return choice;
}

std::string describe(const KernelChoice& choice) {
  std::string text(choice.kernel ? choice.kernel->name : "no kernel");
  for (const Rejection& rejection : choice.rejections)
    text += fmt::format(" ({}: {})", rejection.kernel, rejection.reason);
  return text;
}

std::string describe_kernel(const Graph& program, NodeId id, const KernelSet& kernels) {
  const Node& node = program.node(id);
  return is_stored(program, node) ? "" : describe(choose_kernel(program, node, kernels));
}

std::vector<std::string> nodes_without_kernel(const Graph& program, const KernelSet& kernels) {
  std::vector<std::string> lines;
  for (const NodeId id : program.nodes()) {
    const Node& node = program.node(id);
    if (is_stored(program, node)) continue;
    const KernelChoice choice = choose_kernel(program, node, kernels);
    if (!choice.kernel)
      lines.push_back(fmt::format("{}: {}", program.describe(id), describe(choice)));
  }
  return lines;
}

bool is_stored(const Graph& graph, const Node& node) {
  return node.has(Trait::external) ||
         (node.operands.empty() && graph.value(node.results[0]).type.domain == graph.none());
}

}  // namespace fuselage
