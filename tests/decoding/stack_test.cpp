// Threads with a small stack get errors; those with the required one run.

#include "fuselage/base/stack.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "fuselage/backends/compile.h"
#include "fuselage/backends/graph_runner.h"
#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "fuselage/decoding/generator.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/graph/text.h"
#include "fuselage/models/load_model.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/registry.h"
#include "tests/decoding/support.h"

namespace fuselage::stack_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A small stack. The system takes some of it for the thread's variables and the loaded libraries'
/// own, more in this program than in others, and an exception needs some to be thrown. On ARM64 no
/// thread has less than 128 KiB.
const std::size_t kSmallest =
    std::max<std::size_t>(32 << 10, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN)));

/// The message of an Error in `work` on a thread with a stack of this size; "" without one.
std::string error_on_stack(std::size_t bytes, const std::function<void()>& work) {
  struct Task {
    const std::function<void()>& work;
    std::string error;
  } task{work, ""};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    auto& given = *static_cast<Task*>(argument);
    try {
      given.work();
    } catch (const Error& error) {
      given.error = error.what();
    }
    return nullptr;
  };
  if (pthread_attr_setstacksize(&attributes, bytes) != 0) throw std::runtime_error("stack size");
  if (pthread_create(&thread, &attributes, run, &task) != 0) throw std::runtime_error("thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return task.error;
}

TranslatorOptions translator_options() {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  return options;
}

ScorerOptions scorer_options() {
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  return options;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // the runtime needs more stack than the smallest
#else
constexpr bool kSanitized = false;
#endif

TEST(Stack, ThatIsTooSmallIsAnError) {
  if (kSanitized) GTEST_SKIP();
  const std::string path = support::small_model();
  const Model model = load_model(path);
  const Translator translator(path, translator_options());
  const Scorer scorer(path, scorer_options());
  const std::string graph = print_graph(model.graph);
  const auto executable = compile(model.graph, model.weights);
  const auto worker = executable->make_worker();
  const std::vector<WordIds> sentences{{1, 0}};
  const std::vector<std::string> lines{"▁Tom"};
  const std::pair<const char*, std::function<void()>> entrances[] = {
      {"load_model", [&] { load_model(path); }},
      {"make_model", [&] { make_model(model.graph, model.weights); }},
      {"parse_graph", [&] { parse_graph(graph, "text", all_ops()); }},
      {"compile", [&] { compile(model.graph, model.weights); }},
      {"GraphRunner", [&] { GraphRunner(model.graph, model.weights); }},
      {"Worker::begin",
       [&] {
         worker->begin(sentences, {{10}, {1}});
       }},
      {"load_extension", [&] { load_extension("none.so"); }},
      {"Translator", [&] { Translator(model, translator_options()); }},
      {"Translator by path", [&] { Translator(path, translator_options()); }},
      {"Translator::translate", [&] { translator.translate("▁Tom"); }},
      {"Translator::translate of lines", [&] { translator.translate(lines); }},
      {"Generator", [&] { Generator generator(model); }},
      {"Scorer", [&] { Scorer(model, scorer_options()); }},
      {"Scorer::score", [&] { scorer.score("▁Tom", "▁Tom"); }},
      {"Scorer::score_n_best", [&] { scorer.score_n_best(lines, {lines}); }},
  };
  for (const auto& [name, enter] : entrances)
    EXPECT_THAT(
        error_on_stack(kSmallest, enter),
        AllOf(HasSubstr("KiB of stack left, but 256 KiB are needed"), HasSubstr("larger stack")))
        << name;
}

TEST(Stack, OfTheRequiredSizeIsEnough) {
  if (kSanitized) GTEST_SKIP();
  // The system's own part of a stack, and the frames before the library.
  const std::size_t size = kMinStackBytes + (64 << 10);
  const auto works = [&](const std::string& path, const std::vector<std::string>& vocabularies,
                         const std::string& line) {
    EXPECT_EQ(error_on_stack(size,
                             [&] {
                               TranslatorOptions options;
                               options.vocabularies.paths = vocabularies;
                               options.alignment = true;
                               const Translator translator(path, options);
                               translator.translate(line);
                               ScorerOptions scoring;
                               scoring.vocabularies.paths = vocabularies;
                               Scorer(path, scoring).score(line, line);
                             }),
              "")
        << path;
  };
  works(support::small_model(), support::vocabularies(), "▁Tom");
  works(std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de", {}, "Tom is my friend.");
  works(std::string(FUSELAGE_TEST_DATA) + "/s2s-basic/model.npz", support::vocabularies(), "▁Tom");
}

}  // namespace
}  // namespace fuselage::stack_test
