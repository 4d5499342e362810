#include "decoding/queue/translate_in_order.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "decoding/queue/line_queue.h"
#include "decoding/queue/ordered_results.h"
#include "decoding/resolve_options.h"

namespace fuselage {
namespace {

/// Lines that may begin before the first one is handed on, for each place: a sentence may take as
/// many times the steps of the others before it holds them up.
constexpr std::size_t kLinesPerPlace = 16;

/// Waits for input; throws the error that ended all.
void wait_until(const InputReady& ready, OrderedResults& results) {
  constexpr std::chrono::milliseconds kLookForErrors{50};
  if (!ready) return;
  while (!ready(kLookForErrors)) results.rethrow_failure();
}

}  // namespace

void translate_in_order(const Translator::Impl& translator, const Translator::Lines& lines,
                        const Translator::Sink& sink, const InputReady& ready) {
  const std::size_t places = translator.first_bounds().sentences;
  const std::size_t threads = workers_of(translator.options().threads, translator.executable());
  OrderedResults results(sink, kLinesPerPlace * places * threads);
  LineQueue queue(translator, {.places = places, .max_waiting = places * threads});
  while (true) {
    wait_until(ready, results);
    const std::size_t number = results.begin_line();
    auto queued = std::make_shared<QueuedLine>();
    try {
      std::string line;
      LineGuide guide;
      if (!lines(line, guide)) {
        results.drop_last_line();
        break;
      }
      queued->line = translator.encode(line, number, guide);
    } catch (...) {
      results.put(number, {}, std::current_exception());
      break;
    }
    queued->done = [&results, number](Translation&& translation, const std::exception_ptr& error) {
      results.put(number, std::move(translation), error);
    };
    if (queued->line.empty())
      results.put(number, translator.empty_translation(queued->line), nullptr);
    else
      queue.add(queued, /*wait=*/true);
  }
  results.finish();
}

}  // namespace fuselage
