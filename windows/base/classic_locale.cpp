// A thread has a locale of its own while it asks for one; setlocale() sets that of the program
// otherwise.
#include "base/classic_locale.h"

#include <clocale>
#include <string>

namespace fuselage {

struct ClassicLocale::Before {
  int mode;  ///< of this thread; -1: it can have no locale of its own, as with msvcrt.dll
  std::string locale;
};

ClassicLocale::ClassicLocale() : before_(std::make_unique<Before>()) {
  before_->mode = ::_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  if (before_->mode == -1) return;
  before_->locale = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "C");
}

ClassicLocale::~ClassicLocale() {
  if (before_->mode == -1) return;
  std::setlocale(LC_ALL, before_->locale.c_str());
  ::_configthreadlocale(before_->mode);
}

}  // namespace fuselage
