#include "base/classic_locale.h"

#include <clocale>  // with newlocale() and uselocale() of POSIX

namespace fuselage {

struct ClassicLocale::Before {
  locale_t locale;
};

ClassicLocale::ClassicLocale() : before_(std::make_unique<Before>()) {
  // 0, which leaves the locale as it is, if there is no memory for one.
  static const locale_t classic = ::newlocale(LC_ALL_MASK, "C", nullptr);
  before_->locale = ::uselocale(classic);
}

ClassicLocale::~ClassicLocale() { ::uselocale(before_->locale); }

}  // namespace fuselage
