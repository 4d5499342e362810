// A queue of lines from many threads, against translations one at a time.

#include "fuselage/decoding/translation_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"

namespace fuselage::translation_queue_test {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

std::vector<std::string> some_lines() {
  std::vector<std::string> lines;
  std::ifstream input(support::conformance_case("transformer-post") + "/input.sp.en");
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  lines.emplace_back("");
  return lines;
}

TranslatorOptions options_for(std::size_t threads) {
  TranslatorOptions options{.beam_size = 3, .threads = threads};
  options.vocabularies.paths = support::vocabularies();
  return options;
}

std::string message_of(std::future<Translation>& result) {
  try {
    result.get();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Few lines, unless the environment variable asks for more.
std::size_t lines_of_a_client() {
  const char* const lines = std::getenv("FUSELAGE_QUEUE_TEST_LINES");
  return lines ? std::stoul(lines) : 150;
}

struct Case {
  std::string model;
  std::size_t threads, places;
  Refill refill = Refill::at_once;
};

class Queue : public ::testing::TestWithParam<Case> {};

TEST_P(Queue, GivesTheBytesOfOneLineAtATimeWhileOthersAreCancelled) {
  const Translator translator(support::conformance_case(GetParam().model) + "/model.npz",
                              options_for(GetParam().threads));
  const std::vector<std::string> lines = some_lines();
  std::vector<Translation> expected;
  for (const std::string& line : lines) expected.push_back(translator.translate(line));
  TranslationQueue queue(
      translator, {.places = GetParam().places, .max_waiting = 50, .refill = GetParam().refill});
  constexpr std::size_t kThreads = 8;
  const std::size_t line_count = lines_of_a_client();
  std::atomic<std::size_t> same = 0, others = 0, cancelled = 0;
  std::vector<std::thread> clients;
  for (unsigned client = 0; client < kThreads; ++client)
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      for (std::size_t i = 0; i < line_count; ++i) {
        const std::size_t line = random() % lines.size();
        const auto done = [&, line](Translation&& translation, const std::exception_ptr& error) {
          if (error) {
            ++cancelled;
            return;
          }
          const bool equal =
              translation.text() == expected[line].text() &&
              translation.n_best[0].hypothesis.score == expected[line].n_best[0].hypothesis.score;
          ++(equal ? same : others);
        };
        const auto ticket = queue.submit(lines[line], done);
        if (random() % 3 == 0) queue.cancel(ticket);
        if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  for (std::thread& client : clients) client.join();
  queue.drain();
  EXPECT_EQ(same + cancelled, kThreads * line_count);
  EXPECT_EQ(others, 0u);
  EXPECT_GT(cancelled, 0u);
  const QueueFigures figures = queue.figures();
  EXPECT_EQ(figures.waiting + figures.translating, 0u);
  EXPECT_GT(figures.sentence_steps, figures.steps) << "no two lines were translated together";
}

INSTANTIATE_TEST_SUITE_P(Models, Queue,
                         ::testing::Values(Case{"transformer-ssru", 2, 4},
                                           Case{"transformer-post", 1, 8}, Case{"s2s-basic", 3, 16},
                                           Case{"nematus", 1, 6, Refill::half_empty},
                                           Case{"transformer-pre", 2, 5, Refill::by_cost}),
                         [](const auto& test) { return std::to_string(test.index); });

// With four places and groups of one, sentences arrive while others are searched on the device.
TEST(QueueOfAGpu, GivesTheBytesOfOneLineAtATime) {
  if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
  for (const std::int32_t n_best : {1, 2}) {
    TranslatorOptions options = options_for(1);
    options.compile.backend = "cuda";
    options.compile.cuda.deterministic = true;
    options.max_length_factor = 1.5f;
    options.n_best = n_best;
    options.alignment = n_best > 1;  // searched on the host
    const Translator translator(support::small_model(), options);
    std::vector<std::string> lines = some_lines();
    std::ranges::sort(lines, {}, &std::string::size);
    lines.resize(8);
    TranslationQueue queue(translator, {.places = 4});
    std::vector<std::future<Translation>> results;
    for (const std::string& line : lines) results.push_back(queue.submit(line));
    queue.cancel(queue.submit(lines.back(), [](Translation&&, const std::exception_ptr&) {}));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Translation expected = translator.translate(lines[i]);
      const Translation found = results[i].get();
      EXPECT_EQ(found.text(), expected.text()) << i;
      EXPECT_EQ(found.n_best[0].hypothesis.score, expected.n_best[0].hypothesis.score) << i;
    }
    queue.drain();
    EXPECT_GT(queue.figures().sentence_steps, queue.figures().steps) << "none were together";
  }
}

class OneThreadQueue : public ::testing::Test {
 protected:
  Translator translator_{support::small_model(), options_for(1)};
  std::string line_ = some_lines()[0];
};

TEST_F(OneThreadQueue, TranslatesALineLargerThanItsStore) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += line_ + " ";
  TranslationQueue queue(translator_, {.places = 2});
  std::vector<std::future<Translation>> short_ones;
  for (int i = 0; i < 5; ++i) short_ones.push_back(queue.submit(line_));
  auto long_one = queue.submit(text);
  for (int i = 0; i < 5; ++i) short_ones.push_back(queue.submit(line_));
  const std::string expected = translator_.translate(line_).text();
  for (auto& result : short_ones) EXPECT_EQ(result.get().text(), expected);
  EXPECT_EQ(long_one.get().text(), translator_.translate(text).text());
}

TEST_F(OneThreadQueue, RefusesLinesWhoseDeadlineHasPassed) {
  TranslationQueue queue(translator_);
  auto late = queue.submit(line_, {.deadline = steady_clock::now() - std::chrono::seconds(1)});
  auto early = queue.submit(line_, {.deadline = steady_clock::now() + std::chrono::hours(1)});
  EXPECT_THAT(message_of(late), HasSubstr("before its deadline"));
  EXPECT_EQ(message_of(early), "");
}

TEST_F(OneThreadQueue, RefusesLinesThatFindNoRoom) {
  TranslationQueue queue(translator_, {.places = 1, .max_waiting = 1});
  const auto ignore = [](Translation&&, const std::exception_ptr&) {};
  const auto flood = [&] {
    for (int i = 0; i < 10000; ++i) queue.try_submit(line_, ignore, {});
  };
  EXPECT_THROW(flood(), QueueFull);
}

TEST_F(OneThreadQueue, CancelsAllLinesAtItsEnd) {
  std::vector<std::future<Translation>> results;
  {
    TranslationQueue queue(translator_, {.places = 1});
    for (int i = 0; i < 200; ++i) results.push_back(queue.submit(line_));
  }
  std::size_t closed = 0;
  for (auto& result : results) closed += message_of(result).find("closed") != std::string::npos;
  EXPECT_GT(closed, 0u);
}

TEST_F(OneThreadQueue, ChecksItsOptionsAndLines) {
  EXPECT_THROW(TranslationQueue(translator_, {.places = 5000}), Error);
  EXPECT_THROW(TranslationQueue(translator_, {.max_waiting = 0}), Error);
  TranslationQueue queue(translator_);
  EXPECT_THROW(queue.submit(line_, {.guide = {.prefix = "a"}}), Error);
}

}  // namespace
}  // namespace fuselage::translation_queue_test
