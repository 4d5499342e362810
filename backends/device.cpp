#include "fuselage/backends/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"

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
  return backend.capabilities().options.contains(BackendOption::devices);
}

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

[[noreturn]] void refuse(std::string_view text) {
  std::vector<std::string> devices;
  std::vector<std::string_view> names;
  for (const Backend* backend : device_backends()) {
    names.push_back(backend->name());
    devices.emplace_back(backend->name());
    if (has_numbers(*backend)) devices.push_back(fmt::format("{}:N", backend->name()));
  }
  const std::string last = devices.back();
  devices.pop_back();
  throw Error(fmt::format("{} or {} is needed, not {}{}", fmt::join(devices, ", "), last,
                          in_quotes(text), did_you_mean(text, names)));
}

/// The parts of a list that commas separate.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

void set_device(CompileOptions& options, std::string_view devices) {
  const std::vector<std::string_view> names = parts_of(devices);
  if (names.size() > kMaxDevices)
    throw Error(fmt::format("at most {} devices are possible, not {}", kMaxDevices, names.size()));
  const Backend* backend = nullptr;
  std::vector<int> numbers;
  for (const std::string_view name : names) {
    const std::optional<Device> device = parse_device(name);
    if (!device) refuse(name);
    if (backend != nullptr && (device->backend != backend || !has_numbers(*backend)))
      throw Error(
          fmt::format("several devices are GPUs of one kind, as cuda:0,cuda:1, not {} after {}",
                      in_quotes(name), in_quotes(names.front())));
    backend = device->backend;
    numbers.push_back(device->number);
  }
  options.backend = backend->name();
  options.cuda.devices = std::move(numbers);
}

}  // namespace fuselage
