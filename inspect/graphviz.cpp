#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "fuselage/base/error.h"
#include "fuselage/inspect/picture.h"

extern char** environ;

namespace fuselage {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

/// An anonymous temporary file, which the destructor removes.
TemporaryFile make_temporary() {
  TemporaryFile file(std::tmpfile());
  if (!file) throw Error(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  return file;
}

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 1 << 16> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), file))
    text.append(part.data(), size);
  return text;
}

/// The exit status of a child process whose program does not exist.
constexpr int kNotFound = 127;

/// Runs a program with these files as its standard streams; returns its exit status.
int run_program(const std::vector<const char*>& arguments, const std::array<std::FILE*, 3>& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, fileno(files[static_cast<std::size_t>(i)]), i);
  std::vector<char*> argv;
  // posix_spawnp takes non-const pointers but does not write through them.
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  const auto expect_found = [&](int error) {
    if (error != 0)
      throw Error(fmt::format(
          "cannot run '{}': {}; Debian's package graphviz has it (the format dot needs none)",
          arguments[0], std::strerror(error)));
  };
  expect_found(failure);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Error(fmt::format("cannot wait for '{}': {}", arguments[0], std::strerror(errno)));
  const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  expect_found(result == kNotFound ? ENOENT : 0);
  return result;
}

}  // namespace

std::string render_svg(const std::string& dot) {
  const TemporaryFile input = make_temporary();
  const TemporaryFile output = make_temporary();
  const TemporaryFile errors = make_temporary();
  if (std::fwrite(dot.data(), 1, dot.size(), input.get()) != dot.size() ||
      std::fflush(input.get()) != 0)
    throw Error(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
  std::rewind(input.get());
  const int status = run_program({"dot", "-Tsvg"}, {input.get(), output.get(), errors.get()});
  std::string svg = read_all(output.get());
  if (status != 0 || svg.empty())
    throw Error(
        fmt::format("'dot' failed with exit status {}: {}", status, read_all(errors.get())));
  return svg;
}

}  // namespace fuselage
