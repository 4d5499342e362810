#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/exported.h"

namespace fuselage {

/// Who registers ops, passes, kernels and architectures on this thread: "the extension FILE" while
/// load_extension() calls the file's function, else "this program". The text lives as long as the
/// process. What Fuselage brings itself has no registrant, "".
std::string_view current_registrant();

/// Makes "the extension `path`" the registrant of this thread while it lives.
class RegistrantScope {
 public:
  explicit RegistrantScope(const std::string& path);
  ~RegistrantScope();
  RegistrantScope(const RegistrantScope&) = delete;
  RegistrantScope& operator=(const RegistrantScope&) = delete;

 private:
  std::string_view before_;
};

/// Exceptions that rethrow_for() takes for faults of the registrant.
enum class RegistrantFaults : std::uint8_t {
  all,            ///< also Error, where there is no user who could have made it
  all_but_errors  ///< Error is a user's
};

/// For a catch block around code of `registrant`: throws the exception in flight as an
/// ExtensionError that names `what` ("kernel 'square'") and the registrant. Throws it as it is if
/// there is no registrant, and where it is an ExtensionError already or tells of too little memory.
[[noreturn]] FUSELAGE_EXPORTED void rethrow_for(std::string_view registrant,
                                                const std::string& what,
                                                RegistrantFaults faults = RegistrantFaults::all);

/// Throws an ExtensionError that names `what` and the registrant.
[[noreturn]] void fail_for(std::string_view registrant, const std::string& what,
                           std::string_view message);

/// The message of an exception, without the words that make it Fuselage's own error.
std::string_view message_of_fault(std::string_view message);

}  // namespace fuselage
