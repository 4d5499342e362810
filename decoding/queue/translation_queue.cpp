#include "fuselage/decoding/translation_queue.h"

#include <fmt/format.h>

#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "decoding/queue/queue_thread.h"
#include "decoding/queue/waiting_lines.h"
#include "decoding/resolve_options.h"
#include "decoding/translator_impl.h"

namespace fuselage {
namespace {

constexpr std::size_t kMostPlaces = 4096;

void expect_in_range(const QueueOptions& options) {
  if (options.places > kMostPlaces)
    throw Error(fmt::format("a queue has at most {} places for each thread, not {}", kMostPlaces,
                            options.places));
  if (options.max_waiting == 0) throw Error("max-waiting must be at least 1, not 0");
}

}  // namespace

class TranslationQueue::Impl {
 public:
  Impl(const Translator::Impl& translator, const QueueOptions& options)
      : translator_(translator),
        lease_(translator.pool(),
               workers_of(translator.options().threads, translator.executable())),
        searches_(searches_of(translator)),
        waiting_(options.max_waiting, lease_.searches().size()) {
    const std::size_t places =
        options.places > 0 ? options.places : translator.fastest_batches().sentences;
    places_ = places * lease_.searches().size();
    for (const auto& search : lease_.searches())
      start(*search, {.places = places, .by_batch = !translator.has_places(*search)});
  }

  ~Impl() {
    for (const auto& line : waiting_.close())
      line->done({}, std::make_exception_ptr(Cancelled("the queue was closed")));
    for (std::thread& thread : threads_) thread.join();
  }

  Ticket submit(std::string_view text, Done done, const Options& options, bool wait) {
    auto line = std::make_shared<QueuedLine>();
    line->line = translator_.encode(text, 0, options.guide);
    line->done = std::move(done);
    line->deadline = options.deadline;
    Ticket ticket;
    ticket.line_ = line;
    if (line->line.empty())
      line->done(translator_.empty_translation(line->line), nullptr);
    else if (!waiting_.add(line, wait))
      throw QueueFull("too many lines wait for translation; try again later");
    return ticket;
  }

  void cancel(const Ticket& ticket) {
    const auto line = ticket.line_.lock();
    if (!line) return;
    line->cancelled = true;
    if (waiting_.remove(line)) line->done({}, line->refusal({}));
  }

  void drain() { waiting_.drain(); }

  QueueFigures figures() const {
    return {.waiting = waiting_.waiting(),
            .translating = waiting_.taken(),
            .places = places_,
            .translated = counts_.translated,
            .steps = counts_.steps,
            .sentence_steps = counts_.sentence_steps};
  }

 private:
  static LineSearches searches_of(const Translator::Impl& translator) {
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

  void start(BeamSearch& search, QueueThread::Size size) {
    try {
      threads_.emplace_back(
          [this, &search, size] { QueueThread(search, searches_, waiting_, counts_, size).run(); });
    } catch (const std::system_error& error) {
      waiting_.close();
      for (std::thread& thread : threads_) thread.join();
      throw Error(fmt::format("cannot start {} threads: {}; use fewer threads",
                              lease_.searches().size(), error.code().message()));
    }
  }

  const Translator::Impl& translator_;
  SearchPool::Lease lease_;
  LineSearches searches_;
  WaitingLines waiting_;
  QueueCounts counts_;
  std::size_t places_ = 0;
  std::vector<std::thread> threads_;
};

TranslationQueue::TranslationQueue(const Translator& translator, QueueOptions options) {
  expect_in_range(options);
  impl_ = std::make_unique<Impl>(translator.impl(), options);
}

TranslationQueue::~TranslationQueue() = default;

TranslationQueue::Ticket TranslationQueue::submit(std::string_view line, Done done,
                                                  Options options) {
  return impl_->submit(line, std::move(done), options, /*wait=*/true);
}

TranslationQueue::Ticket TranslationQueue::try_submit(std::string_view line, Done done,
                                                      Options options) {
  return impl_->submit(line, std::move(done), options, /*wait=*/false);
}

std::future<Translation> TranslationQueue::submit(std::string_view line, Options options) {
  auto promise = std::make_shared<std::promise<Translation>>();
  const auto done = [promise](Translation&& translation, std::exception_ptr error) {
    if (error)
      promise->set_exception(std::move(error));
    else
      promise->set_value(std::move(translation));
  };
  submit(line, done, std::move(options));
  return promise->get_future();
}

void TranslationQueue::cancel(const Ticket& ticket) { impl_->cancel(ticket); }

void TranslationQueue::drain() { impl_->drain(); }

QueueFigures TranslationQueue::figures() const { return impl_->figures(); }

}  // namespace fuselage
