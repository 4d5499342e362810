#include "fuselage/decoding/translation_queue.h"

#include <fmt/format.h>

#include <utility>

#include "decoding/queue/line_queue.h"

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
        lines_(translator, {.places = options.places,
                            .max_waiting = options.max_waiting,
                            .refill = options.refill}) {}

  Ticket submit(std::string_view text, Done done, const Options& options, bool wait) {
    auto line = std::make_shared<QueuedLine>();
    line->line = translator_.encode(text, 0, options.guide);
    line->done = std::move(done);
    line->deadline = options.deadline;
    Ticket ticket;
    ticket.line_ = line;
    if (line->line.empty())
      line->done(translator_.empty_translation(line->line), nullptr);
    else if (!lines_.add(line, wait))
      throw QueueFull("too many lines wait for translation; try again later");
    return ticket;
  }

  LineQueue& lines() { return lines_; }

 private:
  const Translator::Impl& translator_;
  LineQueue lines_;
};

TranslationQueue::TranslationQueue(const Translator& translator, QueueOptions options) {
  expect_in_range(options);
  impl_ = std::make_unique<Impl>(translator.impl(), options);
}

TranslationQueue::~TranslationQueue() = default;

TranslationQueue::Ticket TranslationQueue::submit(std::string_view line, Done done,
                                                  const Options& options) {
  return impl_->submit(line, std::move(done), options, /*wait=*/true);
}

TranslationQueue::Ticket TranslationQueue::try_submit(std::string_view line, Done done,
                                                      const Options& options) {
  return impl_->submit(line, std::move(done), options, /*wait=*/false);
}

std::future<Translation> TranslationQueue::submit(std::string_view line, const Options& options) {
  auto promise = std::make_shared<std::promise<Translation>>();
  const auto done = [promise](Translation&& translation, std::exception_ptr error) {
    if (error)
      promise->set_exception(std::move(error));
    else
      promise->set_value(std::move(translation));
  };
  submit(line, done, options);
  return promise->get_future();
}

void TranslationQueue::cancel(const Ticket& ticket) {
  if (const auto line = ticket.line_.lock()) impl_->lines().cancel(line);
}

void TranslationQueue::drain() { impl_->lines().drain(); }

QueueFigures TranslationQueue::figures() const { return impl_->lines().figures(); }

}  // namespace fuselage
