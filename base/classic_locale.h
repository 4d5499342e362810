#pragma once

#include <clocale>  // with newlocale() and uselocale() of POSIX

namespace fuselage {

/// Sets the C library's locale of this thread to "C" as long as it lives. For calls of libraries
/// that read or write numbers by the C locale, which a host program may have set to one with a
/// decimal comma.
class ClassicLocale {
 public:
  ClassicLocale() : before_(::uselocale(classic())) {}
  ~ClassicLocale() { ::uselocale(before_); }
  ClassicLocale(const ClassicLocale&) = delete;
  ClassicLocale& operator=(const ClassicLocale&) = delete;

 private:
  /// 0, which leaves the locale as it is, if there is no memory for one.
  static locale_t classic() {
    static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }

  locale_t before_;
};

}  // namespace fuselage
