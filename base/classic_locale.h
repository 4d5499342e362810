#pragma once

#include <memory>

namespace fuselage {

/// Sets the C library's locale of this thread to "C" as long as it lives. For calls of libraries
/// that read or write numbers by the C locale, which a host program may have set to one with a
/// decimal comma. If the system cannot do that, the locale stays as it is.
class ClassicLocale {
 public:
  ClassicLocale();
  ~ClassicLocale();
  ClassicLocale(const ClassicLocale&) = delete;
  ClassicLocale& operator=(const ClassicLocale&) = delete;

 private:
  struct Before;  ///< the locale of the thread before, in the form of its system
  std::unique_ptr<Before> before_;
};

}  // namespace fuselage
