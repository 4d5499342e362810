#include "corpus/output/resumable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kBytesToWrite = std::size_t{1} << 16;
constexpr std::size_t kMaxJournalBytes = std::size_t{1} << 20;

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_empty(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

/// Writes all bytes; false with errno set if that fails. Counts those that are written.
bool write_all(int fd, std::string_view bytes, std::uint64_t& count) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    count += static_cast<std::uint64_t>(written);
  }
  return true;
}

[[noreturn]] void fail(std::string_view what, const std::string& path) {
  throw Error(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

ResumableFile::ResumableFile(std::string path, Options options)
    : path_(std::move(path)), options_(std::move(options)) {
  // As a journal has them: JSON has no invalid UTF-8.
  options_.facts = parse_journal(print_journal({.facts = options_.facts, .state = {}})).facts;
}

ResumableFile::~ResumableFile() = default;

TextState ResumableFile::begin() {
  const std::lock_guard lock(mutex_);
  if (exists(journal_path())) {
    if (!options_.resume)
      throw Error(fmt::format("{} was begun before ({} is there): resume it, or remove these files",
                              path_, journal_path()));
    go_on(read_file(journal_path(), kMaxJournalBytes));
  } else {
    begin_anew();
  }
  written_ = journal_.state;
  kept_at_ = Clock::now();
  return written_;
}

void ResumableFile::begin_anew() {
  for (const std::string& path : {path_, part_path()})
    // An empty part is that of a process that came no further.
    if (exists(path) && !(path != path_ && is_empty(path)))
      throw Error(fmt::format(
          "{} is there, but {}, which would say how much of it is complete, is not; remove it, or "
          "write elsewhere",
          path, journal_path()));
  journal_ = {.facts = options_.facts, .state = {}};
  open_part();
  write_journal();
}

void ResumableFile::go_on(const std::string& text) {
  try {
    journal_ = parse_journal(text);
    expect_same_facts(journal_.facts, options_.facts);
  } catch (const Error& error) {
    throw Error(fmt::format("{} cannot go on: {} ({}); to begin anew, remove it with {}", path_,
                            error.what(), journal_path(), part_path()));
  }
  if (journal_.state.is_complete && !exists(part_path())) {
    if (!exists(path_))
      throw Error(
          fmt::format("{} is complete according to {}, but it is not there; to make it "
                      "anew, remove the journal",
                      path_, journal_path()));
    return;
  }
  open_part();
  if (journal_.state.is_complete) return end_complete();
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail("read", part_path());
  if (static_cast<std::uint64_t>(status.st_size) < journal_.bytes)
    throw Error(fmt::format(
        "{} has {} bytes, but {} were written according to {}; bring the file back, or to begin "
        "anew, remove both",
        part_path(), status.st_size, journal_.bytes, journal_path()));
  // What is behind was written after the last checkpoint.
  bytes_ = journal_.bytes;
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0 ||
      ::lseek(file_.get(), 0, SEEK_END) < 0)
    fail("write", part_path());
}

/// Opens the file for this process alone.
void ResumableFile::open_part() {
  const std::string path = part_path();
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file_.get() < 0) fail("write", path);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      throw Error(fmt::format("{} is being written by another process; wait for its end", path));
    if (errno != ENOLCK && errno != EOPNOTSUPP) fail("lock", path);
  }
  // The other process may have renamed it between the two calls.
  struct stat opened {};
  struct stat named {};
  if (::fstat(file_.get(), &opened) != 0 || ::stat(path.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino)
    throw Error(fmt::format("{} was being ended by another process; start again", path));
  if (!S_ISREG(opened.st_mode)) throw Error(fmt::format("{} is no regular file", path));
}

void ResumableFile::write(std::string_view rows, const TextState& state) {
  const std::lock_guard lock(mutex_);
  if (!compressor_) compressor_ = make_compressor(path_);
  if (compressor_)
    compressor_->compress(rows, Compressor::Rest::keep, pending_);
  else
    pending_ += rows;
  written_ = state;
  if (Clock::now() - kept_at_ >= options_.interval)
    keep();
  else if (pending_.size() >= kBytesToWrite)
    write_out();
}

void ResumableFile::write_out() {
  if (!write_all(file_.get(), pending_, bytes_))
    throw Error(fmt::format(
        "cannot write {}: {}; its first {} rows are kept: when there is room, resume it",
        part_path(), std::strerror(errno), journal_.state.rows));
  pending_.clear();
}

void ResumableFile::keep() {
  if (compressor_) compressor_->compress({}, Compressor::Rest::end, pending_);
  compressor_.reset();
  write_out();
  // The text is on the disk before the journal says so.
  if (::fdatasync(file_.get()) != 0) fail("write", part_path());
  const Clock::time_point now = Clock::now();
  journal_.seconds += std::chrono::duration<double>(now - kept_at_).count();
  journal_.state = written_;
  journal_.bytes = bytes_;
  kept_at_ = now;
  write_journal();
}

void ResumableFile::checkpoint() {
  const std::lock_guard lock(mutex_);
  if (file_.get() >= 0 && !(written_ == journal_.state)) keep();
}

void ResumableFile::finish(const TextState& state) {
  const std::lock_guard lock(mutex_);
  written_ = state;
  written_.is_complete = true;
  keep();
  end_complete();
}

/// Gives the complete file its name.
void ResumableFile::end_complete() {
  if (std::rename(part_path().c_str(), path_.c_str()) != 0) fail("rename", part_path());
  sync_folder();
  if (!file_.close()) fail("write", path_);
}

/// Replaces the journal. The lock is held, so the new one needs no name of its own.
void ResumableFile::write_journal() const {
  const std::string path = journal_path() + ".new";
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  std::uint64_t count = 0;
  if (file.get() < 0 || !write_all(file.get(), print_journal(journal_), count) ||
      ::fsync(file.get()) != 0 || !file.close() ||
      std::rename(path.c_str(), journal_path().c_str()) != 0)
    fail("write", journal_path());
  sync_folder();
}

/// Brings the names in the folder of the file to the disk.
void ResumableFile::sync_folder() const {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const Descriptor opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot.
  if (opened.get() >= 0) ::fsync(opened.get());
}

}  // namespace fuselage
