#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/files/compression.h"
#include "base/files/descriptor.h"
#include "corpus/output/journal.h"
#include "corpus/output/text_output.h"

namespace fuselage {

/// A file that is written as PATH.part and renamed to PATH when it is complete. PATH.journal says
/// how much of it is complete on the disk; a file that was begun by a process that is gone is gone
/// on with there. A name that ends in .gz or .zst is that of a compressed file, with a member or
/// frame for what is written between two checkpoints.
class ResumableFile : public TextOutput {
 public:
  struct Options {
    JobFacts facts = {};
    bool resume = false;                         ///< the file may have been begun
    std::chrono::duration<double> interval{30};  ///< between checkpoints
  };

  ResumableFile(std::string path, Options options);
  ~ResumableFile() override;

  /// Throws Error when the file has been begun with other facts, is being written by another
  /// process, is there but has no journal, or is not as its journal says.
  TextState begin() override;
  void write(std::string_view rows, const TextState& state) override;
  void finish(const TextState& state) override;

  /// Keeps what has been written, also if the machine is lost. May be called at any time, from any
  /// thread.
  void checkpoint();

  /// Seconds that all starts took until the last checkpoint.
  double seconds() const { return journal_.seconds; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string part_path() const { return path_ + ".part"; }
  std::string journal_path() const { return path_ + ".journal"; }
  void begin_anew();
  void go_on(const std::string& text);
  void end_complete();
  void open_part();
  void write_out();
  void keep();
  void write_journal() const;
  void sync_folder() const;

  std::string path_;
  Options options_;
  std::mutex mutex_;
  Descriptor file_{-1};
  Journal journal_;    ///< as it is on the disk
  TextState written_;  ///< with what is in `pending_`
  std::unique_ptr<Compressor>
      compressor_;           ///< null: the file is not compressed, or no member begun
  std::string pending_;      ///< bytes for the file
  std::uint64_t bytes_ = 0;  ///< of the file
  Clock::time_point kept_at_;
};

}  // namespace fuselage
