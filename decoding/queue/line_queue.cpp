#include "decoding/queue/line_queue.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "decoding/resolve_options.h"
#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// On a GPU a launch costs the same for one sentence as for many.
constexpr std::size_t kGroupsOfPlaces = 16;
/// Places are many on a GPU: their memory is that of the first batches.
constexpr std::int64_t kWordsOnGpu = 32;

LineSearches searches_of(const Translator::Impl& translator) {
  return {[&](const EncodedLine& line) { return translator.words_of(line); },
          [&](BeamSearch& search, std::span<const EncodedLine> lines,
              std::span<const std::int32_t> places) { translator.admit(search, lines, places); },
          [&](const EncodedLine& line, NBest hypotheses) {
            return translator.make_translation(line, std::move(hypotheses));
          },
          [&](BeamSearch& search, std::vector<EncodedLine>& lines) {
            return translator.translate_batch(search, lines);
          }};
}

}  // namespace

LineQueue::LineQueue(const Translator::Impl& translator, Size size)
    : lease_(translator.pool(), workers_of(translator.options().threads, translator.executable())),
      searches_(searches_of(translator)),
      places_(size.places > 0 ? size.places : translator.first_bounds().sentences),
      waiting_(size.max_waiting > 0 ? size.max_waiting : places_ * lease_.searches().size(),
               lease_.searches().size()) {
  QueueThread::Size each{.places = places_, .by_batch = false, .refill = size.refill};
  if (find_backend(translator.options().compile.backend).capabilities().needs_gpu) {
    each.together = 1 + places_ / kGroupsOfPlaces;
    each.average_words = kWordsOnGpu;
  }
  for (const auto& search : lease_.searches()) {
    each.by_batch = !translator.has_places(*search);
    start(*search, each);
  }
}

LineQueue::~LineQueue() { stop(); }

void LineQueue::start(BeamSearch& search, QueueThread::Size size) {
  try {
    threads_.emplace_back(
        [this, &search, size] { QueueThread(search, searches_, waiting_, counts_, size).run(); });
  } catch (const std::system_error& error) {
    stop();
    throw Error(fmt::format("cannot start {} threads: {}; use fewer threads",
                            lease_.searches().size(), error.code().message()));
  }
}

void LineQueue::stop() {
  for (const auto& line : waiting_.close())
    line->done({}, std::make_exception_ptr(Cancelled("the queue was closed")));
  for (std::thread& thread : threads_) thread.join();
}

void LineQueue::cancel(const std::shared_ptr<QueuedLine>& line) {
  line->cancelled = true;
  if (waiting_.remove(line)) line->done({}, line->refusal({}));
}

QueueFigures LineQueue::figures() const {
  return {.waiting = waiting_.waiting(),
          .translating = waiting_.taken(),
          .threads = threads_.size(),
          .places = places_ * threads_.size(),
          .translated = counts_.translated,
          .steps = counts_.steps,
          .sentence_steps = counts_.sentence_steps};
}

}  // namespace fuselage
