// Directories are written with locks and folders as descriptors, which Windows has in another way:
// none are.
#include "models/directory/directory_writer.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"

namespace fuselage {

DirectoryWriter::DirectoryWriter(const std::string& target) {
  throw Error(
      fmt::format("cannot write {}: this build writes no model directories; make it with the "
                  "command fuselage convert on another system",
                  target));
}

DirectoryWriter::~DirectoryWriter() = default;

std::string DirectoryWriter::path_of(std::string_view) const { return {}; }

void DirectoryWriter::commit() {}

}  // namespace fuselage
