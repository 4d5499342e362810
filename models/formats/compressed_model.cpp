#include "models/formats/compressed_model.h"

#include <utility>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "models/limits.h"

namespace fuselage {

bool is_compressed_model(const std::string& path) { return without_compression(path) != path; }

std::string read_compressed_model(const std::string& path) {
  std::string bytes = read_file(path);
  const std::size_t bound = kMaxModelExpansion * bytes.size() + kAlwaysExpanded;
  return expand_text(std::move(bytes), path, bound);
}

}  // namespace fuselage
