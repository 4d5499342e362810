// Translation on several GPUs, and with little memory, on real ones or on what stands in for them.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/device.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "support.h"

namespace fuselage {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class DevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
  }

  static std::vector<std::string> input(std::size_t count) {
    std::ifstream file(support::conformance_case("transformer-ssru") + "/input.sp.en");
    std::vector<std::string> lines(count);
    for (std::string& line : lines) std::getline(file, line);
    return lines;
  }

  TranslatorOptions options(const char* device, std::size_t mini_batch) {
    TranslatorOptions options;
    options.beam_size = 2;
    options.max_length_factor = 1;
    options.batches.mini_batch = mini_batch;
    options.vocabularies.paths = support::vocabularies();
    options.log = [this](std::string_view note) { notes_.emplace_back(note); };
    set_device(options.compile, device);
    return options;
  }

  std::vector<std::string> translate(const TranslatorOptions& options,
                                     const std::vector<std::string>& lines) {
    std::vector<std::string> texts;
    const Translator translator(support::small_model(), options);
    for (const Translation& translation : translator.translate(lines))
      texts.push_back(translation.n_best.at(0).text);
    const MemoryUse use = translator.memory();
    bytes_ = std::accumulate(use.arenas.begin(), use.arenas.end(), use.matrices + use.rows);
    return texts;
  }

  std::vector<std::string> notes_;
  std::size_t bytes_ = 0;  ///< that the last translator used
};

TEST_F(DevicesTest, DividesWorkAmongDevices) {
  const char* const devices = support::emulates_cuda() ? "cuda:0,cuda:1" : "cuda:0,cuda:0";
  const auto lines = input(6);
  const auto expected = translate(options("cpu", 2), lines);
  EXPECT_EQ(translate(options(devices, 2), lines), expected);
  EXPECT_THAT(notes_, Contains(HasSubstr(support::emulates_cuda() ? "device 1" : "device 0")));

  ScorerOptions scoring;
  scoring.vocabularies.paths = support::vocabularies();
  scoring.batches.mini_batch = 2;
  const auto on_cpu = Scorer(support::small_model(), scoring).score(lines, expected);
  set_device(scoring.compile, devices);
  const auto on_devices = Scorer(support::small_model(), scoring).score(lines, expected);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_NEAR(on_devices[i].score, on_cpu[i].score, 1e-3);
}

TEST_F(DevicesTest, TranslatesInSmallerBatchesWhenMemoryIsShort) {
  if (!support::emulates_cuda()) GTEST_SKIP() << "the memory of a real GPU is not set by a test";
  const auto lines = input(4);
  const auto expected = translate(options("cuda", 1), lines);
  EXPECT_EQ(translate(options("cuda", 4), lines), expected);
  EXPECT_THAT(notes_, Not(Contains(HasSubstr("memory was short"))));
  // Down from what weights, values and cuBLASLt take, and some more for rows and the search.
  constexpr std::size_t kBlas = std::size_t{32} << 20;
  for (std::size_t bytes = kBlas + bytes_ + (1 << 20); bytes > kBlas; bytes -= bytes_ / 8) {
    ::setenv("FUSELAGE_EMULATION_MEMORY", std::to_string(bytes / 1000).c_str(), 1);
    notes_.clear();
    ASSERT_EQ(translate(options("cuda", 4), lines), expected) << bytes;
    if (std::ranges::any_of(notes_, [](const std::string& note) {
          return note.find("memory was short") != std::string::npos;
        }))
      break;
  }
  ::unsetenv("FUSELAGE_EMULATION_MEMORY");
  EXPECT_THAT(notes_, Contains(HasSubstr("memory was short")));
}

}  // namespace
}  // namespace fuselage
