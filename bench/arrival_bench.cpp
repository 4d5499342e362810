// The time from the arrival of a line to its translation, when lines arrive at random at a part of
// the rate that the queue can sustain; and the same with long lines among them, whose own times are
// not counted.
//
//   arrival_bench MODEL TEXT [beam] [places] [load] [precision] [lines] [threads] [rounds] [long]
//
// `load` is the part of the rate, that with long lines where there are some; `long` the tokens of a
// long line, of which there is one in 100.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translation_queue.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "text/lines.h"

namespace fuselage {
namespace {

class Arrivals {
 public:
  Arrivals(const Translator& translator, std::vector<std::string> lines, std::size_t places)
      : translator_(translator), lines_(std::move(lines)), places_(places) {}

  /// Seconds for a line when all are there at the beginning, with long lines among them or without.
  double seconds_at_capacity(const std::string& long_line) const {
    TranslationQueue queue(translator_, {.places = places_, .max_waiting = 2 * lines_.size()});
    const double start = now();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (has_long_line_before(i) && !long_line.empty()) queue.submit(long_line, [](auto&&...) {});
      queue.submit(lines_[i], [](auto&&...) {});
    }
    queue.drain();
    return (now() - start) / static_cast<double>(lines_.size());
  }

  /// Adds the latencies of all lines, which arrive `mean` seconds apart on average, to `latencies`.
  /// Before some comes `long_line`, unless it is empty.
  void run(Refill refill, double mean, unsigned seed, const std::string& long_line,
           std::vector<double>& latencies) const {
    std::mt19937 random(seed);
    std::exponential_distribution<double> gaps(1 / mean);
    std::mutex mutex;
    TranslationQueue queue(translator_,
                           {.places = places_, .max_waiting = 2 * lines_.size(), .refill = refill});
    double arrives = now();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      arrives += gaps(random);
      if (const double wait = arrives - now(); wait > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
      if (has_long_line_before(i) && !long_line.empty()) queue.submit(long_line, [](auto&&...) {});
      queue.submit(lines_[i], [&, arrives](Translation&&, const std::exception_ptr&) {
        const std::lock_guard lock(mutex);
        latencies.push_back(now() - arrives);
      });
    }
    queue.drain();
  }

 private:
  static bool has_long_line_before(std::size_t line) {
    constexpr std::size_t kLinesForALongOne = 100;
    return line % kLinesForALongOne == kLinesForALongOne / 2;
  }

  const Translator& translator_;
  std::vector<std::string> lines_;
  std::size_t places_;
};

/// Words of the lines, one behind another, until they have as many tokens.
std::string line_of(const Translator& translator, const std::vector<std::string>& lines,
                    std::size_t tokens) {
  std::string joined;
  for (const std::string& line : lines) {
    if (translator.count_tokens(joined) >= tokens) break;
    joined += (joined.empty() ? "" : " ") + line;
  }
  return joined;
}

/// The latencies of lines with one policy.
struct Latencies {
  const char* name;
  Refill refill;
  std::vector<double> without = {}, with = {};  ///< long lines among them

  void print() const {
    fmt::print("{}\n", name);
    for (const double part : {0.5, 0.95, 0.99})
      fmt::print("{:3.0f} %: {:8.1f} ms, with long lines {:8.1f} ms, {:.3f}\n", 100 * part,
                 1e3 * quantile(without, part), 1e3 * quantile(with, part),
                 quantile(with, part) / quantile(without, part));
  }
};

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  std::vector<std::string> lines;
  for_each_line(read_file(arguments[1]),
                [&](std::string_view line, std::size_t) { lines.emplace_back(line); });
  lines.resize(std::min<std::size_t>(lines.size(), std::stoul(argument(6, "500"))));
  TranslatorOptions options;
  options.beam_size = std::stoi(argument(2, "1"));
  options.threads = std::stoul(argument(7, "1"));
  options.compile.precision = precision_from_string(argument(5, "int8"));
  const Translator translator(load_model(arguments[0]), options);
  const std::size_t places = std::stoul(argument(3, "16"));
  const Arrivals arrivals(translator, lines, places);
  const std::string long_line = line_of(translator, lines, std::stoul(argument(9, "400")));
  const double load = std::stod(argument(4, "0.5"));
  arrivals.seconds_at_capacity(long_line);
  const double without = arrivals.seconds_at_capacity("") / load;
  const double with = arrivals.seconds_at_capacity(long_line) / load;
  Latencies policies[] = {{"at once", Refill::at_once},
                          {"half empty", Refill::half_empty},
                          {"by cost", Refill::by_cost}};
  for (unsigned round = 0; round < std::stoul(argument(8, "3")); ++round)
    for (Latencies& policy : policies) {
      arrivals.run(policy.refill, without, round, "", policy.without);
      arrivals.run(policy.refill, with, round, long_line, policy.with);
    }
  fmt::print("{} lines, a line in {:.2f} ms, in {:.2f} ms with long lines of {} tokens\n",
             lines.size(), 1e3 * without, 1e3 * with, translator.count_tokens(long_line));
  for (Latencies& policy : policies) policy.print();
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"arrival_bench",
       "MODEL TEXT [beam] [places] [load] [precision] [lines] [threads] [rounds] [long]", 2,
       "Latencies of lines that arrive at random, with and without long lines among them."},
      argc, argv, fuselage::run);
}
