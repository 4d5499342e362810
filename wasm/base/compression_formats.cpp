// The minimal build has no compression of files: what serves a page compresses on the way.
#include <fmt/format.h>

#include "base/files/compression.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

void refuse_compressed(std::string_view path) {
  if (path.ends_with(".gz") || path.ends_with(".zst"))
    throw Error(fmt::format("{}: this build reads no compressed files; expand it first", path));
}

}  // namespace

std::unique_ptr<Expander> make_expander(std::string_view path) {
  refuse_compressed(path);
  return nullptr;
}

std::unique_ptr<Compressor> make_compressor(std::string_view path) {
  refuse_compressed(path);
  return nullptr;
}

}  // namespace fuselage
