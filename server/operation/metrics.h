#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "server/http/http_server.h"
#include "server/models/served_model.h"
#include "server/text/text_translator.h"

namespace fuselage {

/// Figures of a server in the text format of Prometheus. Thread-safe.
class Metrics {
 public:
  void add(const HttpExchange& exchange, const std::string& route);
  void add(const LanguagePair& languages, const TranslatedCounts& counts);
  void add_reload(bool failed) { ++(failed ? failed_reloads_ : reloads_); }

  std::string text(const ModelSet& models, std::size_t connections) const;

 private:
  /// Upper bounds of the histogram, in seconds.
  static constexpr std::array<double, 11> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                     0.5,   1,    2.5,   5,    10};

  struct Latency {
    std::array<std::uint64_t, kBounds.size()> up_to{};  ///< of each bound, not of those below
    std::uint64_t count = 0;
    double seconds = 0;
  };

  void write_exchanges(std::string& text) const;
  void write_translated(std::string& text) const;
  static void write_queues(std::string& text, const ModelSet& models);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;  ///< by route and status
  std::map<std::string, Latency> latencies_;                       ///< by route
  std::map<std::string, TranslatedCounts> translated_;             ///< by languages
  std::atomic<std::uint64_t> reloads_ = 0, failed_reloads_ = 0;
};

}  // namespace fuselage
