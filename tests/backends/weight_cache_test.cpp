#include "backends/cpu/weight_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "backends/compile.h"
#include "backends/cpu/isa.h"
#include "base/file.h"
#include "support.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using cpu::CachedBytes;
using cpu::WeightCache;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A folder that is gone before each test and after.
class CacheFolder : public ::testing::Test {
 protected:
  CacheFolder() { fs::remove_all(folder_); }
  ~CacheFolder() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path());
    return names;
  }

  const std::string folder_ = temp_path("weight_cache");
};

ContentHash content(std::string_view text) {
  ContentHash hash;
  hash.add(text);
  return hash;
}

std::string text_of(const CachedBytes& cached, std::size_t size) {
  return {reinterpret_cast<const char*>(cached.bytes.get()), size};
}

// --- The file ---

class WeightCacheFile : public CacheFolder {
 protected:
  void expect_refusal(const std::string& file, const std::string& reason) const {
    write_file_atomically(cache_.path(), file);
    const CachedBytes found = cache_.find(5);
    EXPECT_EQ(found.bytes, nullptr) << reason;
    EXPECT_THAT(found.note, HasSubstr(reason));
  }

  const WeightCache cache_{folder_ + "/deep", content("model")};
};

TEST_F(WeightCacheFile, IsFoundByWhatItWasMadeFrom) {
  EXPECT_EQ(cache_.find(5).bytes, nullptr);
  EXPECT_EQ(cache_.find(5).note, "");
  const CachedBytes stored = cache_.store("bytes");
  EXPECT_EQ(stored.note, "");
  EXPECT_EQ(text_of(stored, 5), "bytes");
  EXPECT_EQ(text_of(cache_.find(5), 5), "bytes");
  EXPECT_EQ(WeightCache(folder_ + "/deep", content("another")).find(5).bytes, nullptr);
  EXPECT_THAT(read_file(cache_.path()).substr(WeightCache::kHeaderBytes), "bytes");
}

TEST_F(WeightCacheFile, MayHoldNothing) {
  EXPECT_EQ(cache_.store("").note, "");
  EXPECT_EQ(cache_.find(0).note, "");
  EXPECT_NE(cache_.find(0).bytes, nullptr);
}

TEST_F(WeightCacheFile, IsRefusedWhenItIsDamaged) {
  cache_.store("bytes");
  const std::string whole = read_file(cache_.path());
  expect_refusal("", "0 bytes are too few");
  expect_refusal(whole.substr(0, 100), "100 bytes are too few");
  expect_refusal(whole.substr(0, whole.size() - 1), "4 bytes follow its header instead of 5");
  expect_refusal(whole + "x", "6 bytes follow its header instead of 5");
  expect_refusal(std::string(whole.size(), 'x'), "does not begin as such a file does");
  std::string other = whole;
  other[16] = 9;
  expect_refusal(other, "it has format 9, not 1");
  for (std::size_t at = 24; at < 56; ++at) {
    other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    expect_refusal(other, "the checksum of its header is wrong");
  }
}

TEST_F(WeightCacheFile, IsRefusedWhenItIsAnother) {
  cache_.store("longer bytes");
  const std::string longer = read_file(cache_.path());
  expect_refusal(longer, "it was made for 12 bytes, but 5 are needed");
  const WeightCache another(folder_, content("another"));
  another.store("bytes");
  expect_refusal(read_file(another.path()), "it was made from something else");
}

TEST_F(WeightCacheFile, IsNotWrittenWhereItCannotBe) {
  fs::create_directories(cache_.path());
  EXPECT_THAT(cache_.find(5).note, HasSubstr("it is a directory"));
  EXPECT_THAT(cache_.store("bytes").note, HasSubstr("weights are not cached: cannot write"));
  write_file_atomically(folder_ + "/file", "");
  const WeightCache below_a_file(folder_ + "/file", content("model"));
  EXPECT_THAT(below_a_file.store("bytes").note, HasSubstr("cannot make the directory"));
}

// --- Models that are compiled with it ---

class CachedModel : public CacheFolder {
 protected:
  struct Run {
    std::vector<std::vector<float>> rows;
    std::vector<std::string> notes;
    bool computed = false;  ///< the load program ran
  };

  Run run(const testing::ToyModel& model, CompileOptions options = {}) const {
    if (options.weights_cache.empty()) options.weights_cache = folder_;
    const auto executable = compile(model.graph, model.weights, options);
    Run result{.notes = executable->notes(),
               .computed = !executable->plan(BindingTime::load).empty()};
    const auto sentences = testing::random_sentences(2, 5, 7);
    for (const testing::Trace& trace :
         testing::run_trace(*executable->make_worker(), *executable, sentences, 4, 6))
      result.rows.insert(result.rows.end(), trace.rows.begin(), trace.rows.end());
    return result;
  }

  const testing::ToyModel model_ = testing::toy_model(3);
};

TEST_F(CachedModel, GivesTheSameWithoutBeingMadeAgain) {
  for (const std::string precision : {"fp32", "int8", "int16"}) {
    const Run first = run(model_, {.precision = precision});
    const Run second = run(model_, {.precision = precision});
    EXPECT_TRUE(first.computed);
    EXPECT_FALSE(second.computed);
    EXPECT_EQ(first.rows, second.rows);
    EXPECT_THAT(second.notes, IsEmpty());
  }
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(CachedModel, IsAnotherWithOtherWeightsTablesOrKernels) {
  run(model_);
  EXPECT_TRUE(run(testing::toy_model(4)).computed);
  EXPECT_EQ(files().size(), 2u);
  run(model_, {.precompute_memory = 0});
  EXPECT_EQ(files().size(), 3u);
  const std::string before = cpu::active_isa();
  cpu::force_isa(cpu::supported_isas().front());
  const Run weakest = run(model_);
  cpu::force_isa(before);
  EXPECT_EQ(files().size(), before == cpu::supported_isas().front() ? 3u : 4u);
  EXPECT_THAT(weakest.notes, IsEmpty());
}

TEST_F(CachedModel, IsMadeAnewFromADamagedFile) {
  const Run first = run(model_);
  const std::string path = files().front();
  const std::string whole = read_file(path);
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), std::string(whole.size(), 'x')}) {
    write_file_atomically(path, damaged);
    const Run again = run(model_);
    EXPECT_EQ(again.rows, first.rows);
    EXPECT_THAT(again.notes, ElementsAre(HasSubstr("cached weights are made anew: " + path)));
    EXPECT_EQ(read_file(path), whole);
  }
}

TEST_F(CachedModel, RunsWhereNothingCanBeKept) {
  const Run plain = run(model_);
  write_file_atomically(folder_ + "/file", "");
  const Run run_there = run(model_, {.weights_cache = folder_ + "/file"});
  EXPECT_EQ(run_there.rows, plain.rows);
  EXPECT_THAT(run_there.notes, ElementsAre(HasSubstr("weights are not cached")));
}

TEST_F(CachedModel, MayBeMadeBySeveralAtOnce) {
  const Run alone = run(model_, {.weights_cache = folder_ + "/alone"});
  std::vector<Run> runs(5);
  std::vector<std::thread> threads;
  for (Run& one : runs)
    threads.emplace_back([&] { one = run(model_, {.weights_cache = folder_ + "/all"}); });
  for (std::thread& thread : threads) thread.join();
  for (const Run& one : runs) {
    EXPECT_EQ(one.rows, alone.rows);
    EXPECT_THAT(one.notes, IsEmpty());
  }
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder_ + "/all")) count += entry.exists();
  EXPECT_EQ(count, 1u) << "no temporary file is left";
}

}  // namespace
}  // namespace fuselage
