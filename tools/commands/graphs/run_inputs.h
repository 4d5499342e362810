#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuselage/backends/graph_runner.h"

namespace fuselage {

/// A file for a name, from an argument NAME=FILE.
struct NamedFile {
  std::string name, path;
};

/// Throws Error for an argument without a name or a file; `option` is for the message.
NamedFile parse_named_file(const std::string& argument, const std::string& option);

/// Reads the inputs of a graph. A .npy file is one sequence; an .npz file has the rows NAME and
/// their numbers NAME.lengths; any other file is text: a sentence in each line, its word ids
/// separated by blanks, or words of the vocabulary that `vocabularies` names for the input, or, for
/// an input that has only lengths, the number of rows. No end symbol is added. Throws Error naming
/// the file, and the line of a text.
std::vector<NamedRows> read_run_inputs(std::span<const GraphInput> declared,
                                       std::span<const NamedFile> files,
                                       std::span<const NamedFile> vocabularies);

}  // namespace fuselage
