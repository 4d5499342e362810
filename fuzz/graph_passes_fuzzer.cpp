// Optimizes every graph that parses and verifies, and splits it into programs.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/pipeline.h"
#include "fuzz/check_message.h"
#include "passes/rewrite/pass_manager.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    fuselage::Graph graph = fuselage::parse_graph(text, "fuzz.ir", fuselage::all_ops());
    fuselage::verify(graph);
    fuselage::run_passes(fuselage::select_passes("all"), graph);
    fuselage::split_by_binding_time(graph);
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
