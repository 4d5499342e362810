#include "base/registrant.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

thread_local std::string_view registrant_of_thread = "this program";

/// A text that lives as long as the process.
std::string_view keep_text(std::string text) {
  static std::mutex mutex;
  static std::deque<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.emplace_back(std::move(text));
}

}  // namespace

std::string_view current_registrant() { return registrant_of_thread; }

RegistrantScope::RegistrantScope(const std::string& path) : before_(registrant_of_thread) {
  registrant_of_thread = keep_text(fmt::format("the extension {}", path));
}

RegistrantScope::~RegistrantScope() { registrant_of_thread = before_; }

std::string_view message_of_fault(std::string_view message) {
  constexpr std::string_view kInternal = "internal error: ";
  if (message.starts_with(kInternal)) message.remove_prefix(kInternal.size());
  return message;
}

void fail_for(std::string_view registrant, const std::string& what, std::string_view message) {
  std::string line = fmt::format("{} of {}: {}", what, registrant, message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  throw ExtensionError(line);
}

void rethrow_for(std::string_view registrant, const std::string& what, RegistrantFaults faults) {
  if (registrant.empty()) throw;
  try {
    throw;
  } catch (const ExtensionError&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& error) {
    if (faults == RegistrantFaults::all_but_errors) throw;
    fail_for(registrant, what, error.what());
  } catch (const std::exception& error) {
    fail_for(registrant, what, message_of_fault(error.what()));
  } catch (...) {
    fail_for(registrant, what, "it throws something that is no std::exception");
  }
}

}  // namespace fuselage
