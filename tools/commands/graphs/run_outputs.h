#pragma once

#include <span>
#include <string>

#include "fuselage/backends/graph_runner.h"

namespace fuselage {

/// Throws Error unless `path` ends in .npy, for one output, or .npz.
void expect_array_file(const std::string& path, std::size_t outputs);

/// Writes outputs to an .npz file, as NAME and, for outputs with several rows for a sentence,
/// NAME.lengths, or the only output to an .npy file.
void write_outputs(const std::string& path, std::span<const NamedRows> outputs);

/// A line for each output: name, type, shape and the first numbers.
std::string print_outputs(std::span<const NamedRows> outputs);

}  // namespace fuselage
