// The number of kernels that steps of models need: what fusions and the law make of whole layers.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fuselage/ops/structure/shape.h"
#include "fuselage/passes/pipeline.h"
#include "passes/rewrite/pass_manager.h"
#include "support.h"

namespace fuselage {
namespace {

/// The nodes that compute rows in each step. Selections and slices are read in place.
std::size_t kernels_of_step(const std::string& lines, std::string_view passes) {
  Graph graph = graph_of(lines);
  run_passes(select_passes(passes), graph);
  std::size_t count = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    count += !node.results.empty() && !node.has(Trait::external) && !node.has(Trait::loop_state) &&
             !node.has(Trait::selects_rows) && !node.is<op::Slice>() &&
             graph.binding(id) == BindingTime::step;
  }
  return count;
}

/// A layer of RWKV-4 (Peng et al. 2023, equations 11 to 17): time mixing, then channel mixing. Only
/// elementwise ops read the states.
constexpr const char* kRwkvLayer = R"(%E = param() {name = "E", domain = words, dims = [64]}
%gain = param() {name = "gain", dims = [64]}
%mu = param() {name = "mu", dims = [64]}
%nu = param() {name = "nu", dims = [64]}
%u = param() {name = "u", dims = [64]}
%w = param() {name = "w", dims = [64]}
%Wk = param() {name = "Wk", dims = [64, 64]}
%Wv = param() {name = "Wv", dims = [64, 64]}
%Wr = param() {name = "Wr", dims = [64, 64]}
%Wo = param() {name = "Wo", dims = [64, 64]}
%Fk = param() {name = "Fk", dims = [64, 256]}
%Fv = param() {name = "Fv", dims = [256, 64]}
%zero = constant() {values = [0], dims = [64]}
%low = constant() {values = [-1e30], dims = [64]}
%one = constant() {values = [1]}
%x = select_rows(%E) {via = [hyp.word]}
%seen = state(%zero) {domain = parent}
%num = state(%zero) {domain = parent}
%den = state(%zero) {domain = parent}
%top = state(%low) {domain = parent}
%mixed = state(%zero) {domain = parent}
%seen_old = select_rows(%seen) {via = [hyp.parent]}
%num_old = select_rows(%num) {via = [hyp.parent]}
%den_old = select_rows(%den) {via = [hyp.parent]}
%top_old = select_rows(%top) {via = [hyp.parent]}
%mixed_old = select_rows(%mixed) {via = [hyp.parent]}
%h = layer_norm(%x, %gain) {epsilon = 1e-05}
%keep_k = sub(%one, %mu)
%new_k = mul(%h, %mu)
%old_k = mul(%seen_old, %keep_k)
%x_k = add(%new_k, %old_k)
%k = matmul(%x_k, %Wk)
%keep_v = sub(%one, %nu)
%new_v = mul(%h, %nu)
%old_v = mul(%seen_old, %keep_v)
%x_v = add(%new_v, %old_v)
%v = matmul(%x_v, %Wv)
%raw_r = matmul(%x_k, %Wr)
%r = sigmoid(%raw_r)
%uk = add(%u, %k)
%q = max(%top_old, %uk)
%to_q = sub(%top_old, %q)
%a = exp(%to_q)
%uk_to_q = sub(%uk, %q)
%b = exp(%uk_to_q)
%a_num = mul(%a, %num_old)
%b_v = mul(%b, %v)
%n = add(%a_num, %b_v)
%a_den = mul(%a, %den_old)
%d = add(%a_den, %b)
%wkv = div(%n, %d)
%decayed = add(%top_old, %w)
%top_new = max(%decayed, %k)
%to_top = sub(%decayed, %top_new)
%c = exp(%to_top)
%k_to_top = sub(%k, %top_new)
%e = exp(%k_to_top)
%c_num = mul(%c, %num_old)
%e_v = mul(%e, %v)
%num_new = add(%c_num, %e_v)
%c_den = mul(%c, %den_old)
%den_new = add(%c_den, %e)
%gated = mul(%r, %wkv)
%o = matmul(%gated, %Wo)
%y = add(%x, %o)
%f = layer_norm(%y, %gain) {epsilon = 1e-05}
%new_f = mul(%f, %mu)
%old_f = mul(%mixed_old, %keep_k)
%x_f = add(%new_f, %old_f)
%wide = matmul(%x_f, %Fk)
%positive = relu(%wide)
%squared = mul(%positive, %positive)
%narrow = matmul(%squared, %Fv)
%z = add(%y, %narrow)
next(%seen, %h)
next(%num, %num_new)
next(%den, %den_new)
next(%top, %top_new)
next(%mixed, %f)
return z = %z
)";

TEST(StepKernels, LayerOfRwkv) {
  const std::size_t kernels = kernels_of_step(kRwkvLayer, "all");
  EXPECT_EQ(kernels, kernels_of_step(kRwkvLayer, "all,-merge_states"));
  EXPECT_EQ(kernels, 8u);
}

/// Rotary positions of queries and keys are a kernel each; their tables are read in place.
TEST(StepKernels, RotaryPositions) {
  EXPECT_EQ(kernels_of_step(R"(domain places = vocabulary 32
map hyp.place : hyp -> places position
%E = param() {name = "E", domain = words, dims = [64]}
%angles = param() {name = "angles", domain = places, dims = [8]}
%cosines = cos(%angles)
%sines = sin(%angles)
%W = param() {name = "W", dims = [64, 64]}
%U = param() {name = "U", dims = [64, 64]}
%first = constant() {values = [0], dims = [64]}
%old = state(%first) {domain = parent}
%state = select_rows(%old) {via = [hyp.parent]}
%x = select_rows(%E) {via = [hyp.word]}
%h = add(%x, %state)
%c = select_rows(%cosines) {via = [hyp.place]}
%s = select_rows(%sines) {via = [hyp.place]}
%q = matmul(%h, %W)
%k = matmul(%h, %U)
%rq = rotary(%q, %c, %s) {heads = 4}
%rk = rotary(%k, %c, %s) {heads = 4}
next(%old, %h)
return q = %rq, k = %rk
)",
                            "all"),
            4u);
}

/// One product for both halves of the unit, a chain with the gate, and the product behind it.
TEST(StepKernels, GatedUnit) {
  EXPECT_EQ(kernels_of_step(R"(%E = param() {name = "E", domain = words, dims = [64]}
%gain = param() {name = "gain", dims = [64]}
%Wg = param() {name = "Wg", dims = [64, 128]}
%Wu = param() {name = "Wu", dims = [64, 128]}
%Wd = param() {name = "Wd", dims = [128, 64]}
%state = state(%gain) {domain = parent}
%old = select_rows(%state) {via = [hyp.parent]}
%x = select_rows(%E) {via = [hyp.word]}
%y = add(%x, %old)
%h = rms_norm(%y, %gain) {epsilon = 1e-05}
%g = matmul(%h, %Wg)
%a = swish(%g)
%u = matmul(%h, %Wu)
%m = mul(%a, %u)
%d = matmul(%m, %Wd)
%z = add(%y, %d)
next(%state, %z)
return z = %z
)",
                            "all"),
            4u);
}

}  // namespace
}  // namespace fuselage
