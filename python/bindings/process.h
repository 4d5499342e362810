#pragma once

#include <unistd.h>

#include <string>

#include "fuselage/base/error.h"

/// The process that an object was made in. After fork() the child has neither its threads nor a
/// consistent state of its locks.
class Process {
 public:
  bool is_this() const { return id_ == ::getpid(); }

  /// Throws Error in a child process, with the advice to make a new `object` there.
  void expect_this(const char* object) const {
    if (!is_this())
      throw fuselage::Error(std::string("this ") + object +
                            " was made before os.fork() in another process, whose threads this "
                            "one does not have; make a new one here");
  }

 private:
  const pid_t id_ = ::getpid();
};
