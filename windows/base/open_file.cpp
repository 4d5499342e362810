#include "base/files/open_file.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include "windows/base/wide_path.h"

namespace fuselage {
namespace {

constexpr int kBytes = _O_BINARY | _O_NOINHERIT;

}  // namespace

Descriptor open_to_read(const std::string& path) {
  return Descriptor(::_wopen(wide_path(path).c_str(), _O_RDONLY | kBytes));
}

Descriptor open_without_waiting(const std::string& path) { return open_to_read(path); }

Descriptor create_file(const std::string& path, unsigned) {
  return Descriptor(::_wopen(wide_path(path).c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | kBytes,
                             _S_IREAD | _S_IWRITE));
}

bool flush_to_disk(const Descriptor& file) { return ::_commit(file.get()) == 0; }

}  // namespace fuselage
