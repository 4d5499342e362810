#include "tools/commands/graphs/run_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/npz_writer.h"

namespace fuselage {

void expect_array_file(const std::string& path, std::size_t outputs) {
  const std::string_view extension = file_extension(path);
  if (extension != "npy" && extension != "npz")
    throw Error(fmt::format("the output is written to a file NAME.npz or NAME.npy, not to {}",
                            in_quotes(path)));
  if (extension == "npy" && outputs != 1)
    throw Error(
        fmt::format("{}: an .npy file has one array, but the graph has {} outputs; write "
                    "an .npz file",
                    path, outputs));
}

void write_outputs(const std::string& path, std::span<const NamedRows> outputs) {
  expect_array_file(path, outputs.size());
  if (file_extension(path) == "npy") return write_npy(path, outputs[0].values);
  TensorMap arrays;
  for (const NamedRows& output : outputs) {
    arrays.emplace(output.name, output.values);
    if (output.lengths.empty()) continue;
    Tensor lengths(DType::i32, {static_cast<std::int64_t>(output.lengths.size())});
    std::copy(output.lengths.begin(), output.lengths.end(), lengths.mutable_data<std::int32_t>());
    const std::string name = output.name + ".lengths";
    if (!arrays.emplace(name, lengths).second)
      throw Error(fmt::format("{}: '{}' is an output and the lengths of '{}'; rename the output",
                              path, name, output.name));
  }
  write_npz(path, arrays);
}

std::string print_outputs(std::span<const NamedRows> outputs) {
  constexpr std::int64_t kShown = 6;
  std::size_t width = 0;
  for (const NamedRows& output : outputs) width = std::max(width, output.name.size());
  std::string text;
  for (const NamedRows& output : outputs) {
    const Tensor& values = output.values;
    text += fmt::format("{:{}}  {}{}", output.name, width, to_string(values.dtype()),
                        shape_to_string(values.shape()));
    for (std::int64_t i = 0; i < std::min(values.size(), kShown); ++i)
      text += values.dtype() == DType::f32 ? fmt::format(" {:.6g}", values.data<float>()[i])
                                           : fmt::format(" {}", values.data<std::int32_t>()[i]);
    text += values.size() > kShown ? " …\n" : "\n";
  }
  return text;
}

}  // namespace fuselage
