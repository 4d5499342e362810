#include "base/files/open_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace fuselage {

Descriptor open_to_read(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

Descriptor open_without_waiting(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

Descriptor create_file(const std::string& path, unsigned permissions) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions));
}

bool flush_to_disk(const Descriptor& file) { return ::fsync(file.get()) == 0; }

}  // namespace fuselage
