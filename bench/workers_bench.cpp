// The throughput of several workers against one: both in one process, alternately, by the wall
// clock, without loading.
//
//   workers_bench MODEL TEXT [beam] [mini-batch] [pairs] [workers] [precision]

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "backends/cpu/runtime/isa.h"
#include "base/files/file.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const Model model = load_model(arguments[0]);
  const std::string text = read_file(arguments[1]);
  const int pairs = std::stoi(argument(4, "5"));
  TranslatorOptions options;
  options.beam_size = std::stoi(argument(2, "6"));
  options.normalize = 0.6f;
  options.batches = {.mini_batch = static_cast<std::size_t>(std::stoi(argument(3, "32"))),
                     .maxi_batch = 100,
                     .maxi_batch_sort = MaxiBatchSort::src};
  options.compile.precision = precision_from_string(argument(6, "fp32"));
  const Translator one(model, options);
  options.threads = static_cast<std::size_t>(std::stoi(argument(5, "2")));
  const Translator several(model, options);

  std::size_t words = 0;
  const auto translate = [&](const Translator& translator) {
    std::istringstream input(text);
    words = 0;
    translator.translate(
        input, [&](std::size_t, Translation&& translation) { words += translation.source_words; });
  };
  const Comparison compared = compare(
      pairs, [&] { translate(one); }, [&] { translate(several); }, now);
  const auto tokens = static_cast<double>(words);
  fmt::print("isa {}, {}, beam {}, mini-batch {}, {} tokens\n", cpu::active_isa(),
             to_string(*options.compile.precision), *options.beam_size, *options.batches.mini_batch,
             words);
  fmt::print("1 worker {:.0f} tokens/s, {} workers {:.0f} tokens/s\n", tokens / compared.baseline,
             options.threads, tokens / compared.candidate);
  fmt::print("ratio {:.3f} [{:.3f}, {:.3f}] of {} pairs\n", compared.ratio, compared.low,
             compared.high, pairs);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"workers_bench", "MODEL TEXT [beam] [mini-batch] [pairs] [workers] [precision]", 2,
       "Several workers against one."},
      argc, argv, fuselage::run);
}
