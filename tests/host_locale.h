#pragma once

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <locale>
#include <string>

#include "tests/temporary_folder.h"

namespace fuselage::support {

/// The locale of a host program whose streams of C++ write one and a half as 1,5, as long as it
/// lives. It is always there.
class HostNumbers {
 public:
  HostNumbers() : before_(std::locale::global(std::locale(std::locale::classic(), new Numbers))) {}
  ~HostNumbers() { std::locale::global(before_); }
  HostNumbers(const HostNumbers&) = delete;
  HostNumbers& operator=(const HostNumbers&) = delete;

 private:
  struct Numbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

/// The same, and a locale of C if the system can make one: its decimal sign has two bytes, as in
/// Pashto.
class HostLocale {
 public:
  HostLocale() : c_before_(std::setlocale(LC_ALL, nullptr)) {
    const char* const folder = c_locales();
    if (folder == nullptr) return;
    ::setenv("LOCPATH", folder, 1);
    has_c_ = std::setlocale(LC_ALL, "ps_AF.UTF-8") != nullptr;
    ::unsetenv("LOCPATH");
  }
  ~HostLocale() { std::setlocale(LC_ALL, c_before_.c_str()); }
  HostLocale(const HostLocale&) = delete;
  HostLocale& operator=(const HostLocale&) = delete;

  /// Whether the C library has the locale too.
  bool has_c() const { return has_c_; }

 private:
  /// The folder of a locale that is made once, which takes a second; null if it cannot be made.
  static const char* c_locales() {
    static const TemporaryFolder folder;
    static const std::string path = folder / "";
    static const bool made =
        std::system(
            ("localedef -i ps_AF -f UTF-8 " + path + "ps_AF.UTF-8 >/dev/null 2>&1").c_str()) == 0;
    return made ? path.c_str() : nullptr;
  }

  HostNumbers numbers_;
  std::string c_before_;
  bool has_c_ = false;
};

}  // namespace fuselage::support
