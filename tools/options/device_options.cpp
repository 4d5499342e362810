#include "tools/options/device_options.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::string_view kCuda = "cuda";

/// The number behind "cuda:", 0 for "cuda", -1 for what is neither.
int gpu_number(std::string_view device) {
  if (device == kCuda) return 0;
  if (!device.starts_with("cuda:")) return -1;
  const std::string_view digits = device.substr(kCuda.size() + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

std::string device_problem(const std::string& device) {
  if (device == "cpu" || gpu_number(device) >= 0) return "";
  return fmt::format("cpu, cuda or cuda:N is needed, not {}", in_quotes(device));
}

}  // namespace

CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile) {
  const auto set = [&compile](const std::string& device) {
    compile.backend = device == "cpu" ? "cpu" : kCuda;
    if (device != "cpu") compile.cuda.device = gpu_number(device);
  };
  return app
      .add_option_function<std::string>(
          "--device", set, "The device that runs the model: cpu, cuda (the first GPU) or cuda:N")
      ->check(CLI::Validator(device_problem, ""))
      ->type_name("DEVICE")
      ->default_str("cpu");
}

void add_gpu_options(CLI::App& app, CompileOptions& compile) {
  app.add_flag("--deterministic", compile.cuda.deterministic,
               "A translation has the same bits in any batch on a GPU too, which takes time there");
  app.add_flag("--tf32", compile.cuda.tf32,
               "Products of fp32 by the GPU's TF32, which has 10 bits of mantissa");
}

void check_device_options(const CompileOptions& compile) {
  const bool gpu = compile.backend == kCuda;
  const auto refuse = [](const char* option, const char* device) {
    throw Error("{} is for --device {}; leave one of the two out", option, device);
  };
  if (gpu && compile.threads_per_sentence > 1) refuse("--threads-per-sentence", "cpu");
  if (gpu && !compile.weights_cache.empty()) refuse("--weights-cache", "cpu");
  if (!gpu && compile.cuda.tf32) refuse("--tf32", "cuda");
}

}  // namespace fuselage
