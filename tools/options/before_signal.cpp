#include "tools/options/before_signal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr unsigned kSecondsToFinish = 10;
constexpr unsigned char kStop = 0;

/// The end of the pipe to which the handler writes.
std::atomic<int> signal_pipe_out{-1};

/// A handler may do little more than write: the thread at the other end of the pipe does the work.
void pass_on(int signal) {
  const int reason = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe_out, &number, 1);
  errno = reason;
}

/// The end from which the thread reads. The pipe stays open, since a handler that has begun may
/// still write to it.
int signal_pipe() {
  static const int in = [] {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw Error(fmt::format("cannot make a pipe for signals: {}", std::strerror(errno)));
    signal_pipe_out = ends[1];
    return ends[0];
  }();
  return in;
}

[[noreturn]] void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  ::_exit(128 + signal);
}

}  // namespace

BeforeSignal::BeforeSignal(std::function<void()> finish) : finish_(std::move(finish)) {
  signal_pipe();
  try {
    waiting_ = std::thread([this] { wait(); });
  } catch (const std::system_error& error) {
    throw Error(fmt::format("cannot start a thread for signals: {}", error.code().message()));
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        action.sa_handler != SIG_DFL)
      continue;
    before_.emplace(signal, action);
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

BeforeSignal::~BeforeSignal() {
  restore();
  while (::write(signal_pipe_out, &kStop, 1) < 0 && errno == EINTR) continue;
  waiting_.join();
}

void BeforeSignal::restore() const {
  for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
}

void BeforeSignal::wait() const {
  unsigned char number = kStop;
  while (::read(signal_pipe(), &number, 1) < 0 && errno == EINTR) continue;
  if (number == kStop) return;
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(kSecondsToFinish);
  finish_();
  end_by(number);
}

}  // namespace fuselage
