#include "tools/options/device_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.h"

namespace fuselage {
namespace {

/// Back-ends whose names are names of devices: back-ends with plans. A back-end without plans
/// interprets graphs.
std::vector<const Backend*> device_backends() {
  std::vector<const Backend*> devices;
  for (const Backend* backend : all_backends())
    if (backend->capabilities().plans) devices.push_back(backend);
  return devices;
}

bool has_numbers(const Backend& backend) {
  return backend.capabilities().options.contains(BackendOption::device);
}

/// A device, as "cuda" or "cuda:1".
struct Device {
  const Backend* backend = nullptr;
  int number = 0;
};

std::optional<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Backend* backend : device_backends()) {
    if (text.substr(0, colon) != backend->name()) continue;
    Device device{backend};
    if (colon == std::string_view::npos) return device;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, device.number);
    const bool is_number = error == std::errc() && stop == end && device.number >= 0;
    return is_number && has_numbers(*backend) ? std::optional(device) : std::nullopt;
  }
  return std::nullopt;
}

std::string device_problem(const std::string& text) {
  if (parse_device(text)) return "";
  std::vector<std::string> devices;
  std::vector<std::string_view> names;
  for (const Backend* backend : device_backends()) {
    names.push_back(backend->name());
    devices.emplace_back(backend->name());
    if (has_numbers(*backend)) devices.push_back(fmt::format("{}:N", backend->name()));
  }
  const std::string last = devices.back();
  devices.pop_back();
  return fmt::format("{} or {} is needed, not {}{}", fmt::join(devices, ", "), last,
                     in_quotes(text), did_you_mean(text, names));
}

}  // namespace

CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile) {
  const auto set = [&compile](const std::string& text) {
    const Device device = parse_device(text).value();
    compile.backend = device.backend->name();
    compile.cuda.device = device.number;
  };
  return app
      .add_option_function<std::string>(
          "--device", set, "The device that runs the model: cpu, cuda (the first GPU) or cuda:N")
      ->check(CLI::Validator(device_problem, ""))
      ->type_name("DEVICE")
      ->default_str(compile.backend);
}

void add_gpu_options(CLI::App& app, CompileOptions& compile) {
  app.add_flag("--deterministic", compile.cuda.deterministic,
               "A translation has the same bits in any batch on a GPU too, which takes time there");
  app.add_flag("--tf32", compile.cuda.tf32,
               "Products of fp32 by the GPU's TF32, which has 10 bits of mantissa");
}

}  // namespace fuselage
