#include "backends/cpu/weights/weight_cache.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "backends/cpu/runtime/isa.h"
#include "base/files/file.h"
#include "fuselage/backends/compile.h"
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
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

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

/// Writes a file that nobody else may write, whatever the umask.
void write_file(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, std::span(&bytes, 1), 0600);
}

::mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

std::string text_of(const CachedBytes& cached, std::size_t size) {
  return {reinterpret_cast<const char*>(cached.bytes.get()), size};
}

// --- The file ---

class WeightCacheFile : public CacheFolder {
 protected:
  void expect_refusal(const std::string& file, const std::string& reason) const {
    write_file(cache_.path(), file);
    const CachedBytes found = cache_.find(5);
    EXPECT_EQ(found.bytes, nullptr) << reason;
    EXPECT_THAT(found.note, HasSubstr(reason));
  }

  /// It is neither taken nor written, and neither changed.
  void expect_left_alone(const std::string& reason) const {
    const CachedBytes found = cache_.find(5);
    EXPECT_EQ(found.bytes, nullptr) << reason;
    EXPECT_TRUE(found.refused) << reason;
    EXPECT_EQ(found.note,
              "weights are not cached: " + cache_.path() + ": " + reason + "; remove it");
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

TEST_F(WeightCacheFile, IsMadeAnewWhenItIsDamaged) {
  cache_.store("bytes");
  const std::string whole = read_file(cache_.path());
  expect_refusal("", "0 bytes are too few");
  expect_refusal(whole.substr(0, 100), "100 bytes are too few");
  expect_refusal(whole.substr(0, whole.size() - 1), "4 bytes follow its header instead of 5");
  expect_refusal(whole + "x", "6 bytes follow its header instead of 5");
  expect_refusal(std::string(whole.size(), 'x'), "does not begin as such a file does");
  std::string other = whole;
  other[16] = 9;
  expect_refusal(other, "it has format 9, not 2");
  const std::string zeros(whole.size() - WeightCache::kHeaderBytes, '\0');
  expect_refusal(whole.substr(0, WeightCache::kHeaderBytes) + zeros,
                 "the checksum of its content is wrong");
}

TEST_F(WeightCacheFile, IsMadeAnewWhenAnyByteIsWrong) {
  cache_.store("bytes");
  std::string file = read_file(cache_.path());
  for (std::size_t at = 0; at < file.size(); ++at) {
    file[at] = static_cast<char>(file[at] ^ 1);
    EXPECT_NE(cache_.problem_of(file, 5), "") << "byte " << at;
    file[at] = static_cast<char>(file[at] ^ 1);
  }
  EXPECT_EQ(cache_.problem_of(file, 5), "");
}

TEST_F(WeightCacheFile, IsRefusedWhenItIsAnother) {
  cache_.store("longer bytes");
  const std::string longer = read_file(cache_.path());
  expect_refusal(longer, "it was made for 12 bytes, but 5 are needed");
  const WeightCache another(folder_, content("another"));
  another.store("bytes");
  expect_refusal(read_file(another.path()), "it was made from something else");
}

// --- What is not the user's own regular file stays as it is ---

TEST_F(WeightCacheFile, IsNotTakenFromOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  cache_.store("bytes");
  ASSERT_EQ(::chown(cache_.path().c_str(), 1234, 1234), 0);
  expect_left_alone("it belongs to user 1234, not to user 0");
}

TEST_F(WeightCacheFile, IsNotTakenWhenOthersMayWriteIt) {
  cache_.store("bytes");
  EXPECT_EQ(mode_of(cache_.path()), 0600u);
  for (const ::mode_t mode : {0620u, 0602u}) {
    ASSERT_EQ(::chmod(cache_.path().c_str(), mode), 0);
    expect_left_alone(fmt::format("other users may write it (its mode is {:04o})", mode));
    EXPECT_EQ(mode_of(cache_.path()), mode);
  }
  ASSERT_EQ(::chmod(cache_.path().c_str(), 0644), 0);
  EXPECT_EQ(text_of(cache_.find(5), 5), "bytes");
}

TEST_F(WeightCacheFile, IsNoPipe) {
  fs::create_directories(folder_ + "/deep");
  ASSERT_EQ(::mkfifo(cache_.path().c_str(), 0600), 0);
  expect_left_alone("it is no regular file");
}

TEST_F(WeightCacheFile, IsNoSymbolicLink) {
  cache_.store("bytes");
  fs::rename(cache_.path(), folder_ + "/elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", cache_.path());
  expect_left_alone("it is a symbolic link");
  fs::remove(folder_ + "/elsewhere");
  expect_left_alone("it is a symbolic link");
}

TEST_F(WeightCacheFile, IsNotWrittenWhereItCannotBe) {
  fs::create_directories(cache_.path());
  expect_left_alone("it is no regular file");
  EXPECT_THAT(cache_.store("bytes").note, HasSubstr("weights are not cached: cannot write"));
  write_file_atomically(folder_ + "/file", "");
  const WeightCache below_a_file(folder_ + "/file", content("model"));
  EXPECT_EQ(below_a_file.find(5).note, "");
  EXPECT_THAT(below_a_file.store("bytes").note, HasSubstr("cannot make the directory"));
}

// --- Old files ---

class OldWeights : public CacheFolder {
 protected:
  static constexpr std::uint64_t kFile = WeightCache::kHeaderBytes + 100;

  /// Room for two files.
  WeightCache cache(std::string_view of) const { return {folder_, content(of), 2 * kFile}; }

  std::string store(std::string_view of) const {
    const WeightCache one = cache(of);
    EXPECT_EQ(one.store(std::string(100, 'x')).note, "");
    return one.path();
  }

  static void set_age(const std::string& path, std::chrono::seconds age) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }

  std::string leave(const std::string& name, std::chrono::seconds age) const {
    fs::create_directories(folder_);
    std::string path = folder_ + "/" + name;
    write_file_atomically(path, "left");
    set_age(path, age);
    return path;
  }
};

TEST_F(OldWeights, AreRemovedWhereThereIsNoRoom) {
  using std::chrono::seconds;
  const std::string first = store("first"), second = store("second");
  EXPECT_THAT(files(), UnorderedElementsAre(first, second));
  set_age(first, seconds(10));
  set_age(second, seconds(20));
  const std::string third = store("third");
  EXPECT_THAT(files(), UnorderedElementsAre(first, third)) << "the oldest is gone";
  set_age(first, seconds(30));
  set_age(third, seconds(20));
  EXPECT_NE(cache("first").find(100).bytes, nullptr);
  const std::string fourth = store("fourth");
  EXPECT_THAT(files(), UnorderedElementsAre(first, fourth)) << "it was used last";
}

TEST_F(OldWeights, DoNotIncludeTheFileThatIsStored) {
  const std::string first = store("first"), second = store("second");
  const WeightCache large(folder_, content("large"), 2 * kFile);
  EXPECT_NE(large.store(std::string(3 * kFile, 'x')).bytes, nullptr);
  EXPECT_THAT(files(), ElementsAre(large.path()));
}

TEST_F(OldWeights, StayWithWhoeverHasMappedThem) {
  const WeightCache first(folder_, content("first"), 0);
  const CachedBytes mapped = first.store("bytes");
  const WeightCache second(folder_, content("second"), 0);
  second.store("other");
  EXPECT_THAT(files(), ElementsAre(second.path()));
  EXPECT_EQ(text_of(mapped, 5), "bytes");
}

TEST_F(OldWeights, IncludeFilesOfKilledProcesses) {
  using std::chrono::hours;
  const std::string name = content("killed").text() + ".weights.tmp.";
  const std::string old = leave(name + "0123456789abcdef", hours(2));
  const std::string young = leave(name + "fedcba9876543210", hours(0));
  const std::string stored = store("model");
  EXPECT_THAT(files(), UnorderedElementsAre(young, stored));
}

TEST_F(OldWeights, IncludeNoOtherFiles) {
  using std::chrono::hours;
  const std::string digits = content("other").text();
  std::vector<std::string> expected;
  for (const std::string& name :
       {std::string("model.npz"), std::string(".weights"), digits, digits + ".weights.bak",
        digits + ".weights.tmp.x", "x" + digits + ".weights", digits.substr(1) + ".weights",
        digits + ".npz", std::string("a.tmp.0123456789abcdef")})
    expected.push_back(leave(name, hours(100)));
  fs::create_directories(folder_ + "/" + digits + ".weights");
  expected.push_back(folder_ + "/" + digits + ".weights");
  const std::string link = content("link").text() + ".weights";
  fs::create_symlink(expected.front(), folder_ + "/" + link);
  expected.push_back(folder_ + "/" + link);
  const WeightCache cache(folder_, content("model"), 0);
  EXPECT_EQ(cache.store("bytes").note, "");
  expected.push_back(cache.path());
  EXPECT_THAT(files(), UnorderedElementsAreArray(expected));
}

TEST_F(OldWeights, IncludeNoFilesOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const std::string first = store("first");
  ASSERT_EQ(::chown(first.c_str(), 1234, 1234), 0);
  const WeightCache second(folder_, content("second"), 0);
  EXPECT_EQ(second.store("bytes").note, "");
  EXPECT_THAT(files(), UnorderedElementsAre(first, second.path()));
}

// --- Models that are compiled with it ---

class CachedModel : public CacheFolder {
 protected:
  struct Run {
    std::vector<std::vector<float>> rows;
    std::vector<std::string> notes;
    bool computed = false;  ///< the load program ran
  };

  Run run(const support::ToyModel& model, CompileOptions options = {}) const {
    if (options.weights_cache.empty()) options.weights_cache = folder_;
    const auto executable = compile(model.graph, model.weights, options);
    Run result{.notes = executable->notes(),
               .computed = !executable->plan(BindingTime::load).empty()};
    const auto sentences = support::random_sentences(2, 5, 7);
    for (const support::Trace& trace :
         support::run_trace(*executable->make_worker(), *executable, sentences, 4, 6))
      result.rows.insert(result.rows.end(), trace.rows.begin(), trace.rows.end());
    return result;
  }

  const support::ToyModel model_ = support::toy_model(3);
};

TEST_F(CachedModel, GivesTheSameWithoutBeingMadeAgain) {
  for (const Precision precision : {Precision::fp32, Precision::int8, Precision::int16}) {
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
  EXPECT_TRUE(run(support::toy_model(4)).computed);
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
       {std::string(), whole.substr(0, whole.size() / 2), std::string(whole.size(), 'x'),
        whole.substr(0, WeightCache::kHeaderBytes) +
            std::string(whole.size() - WeightCache::kHeaderBytes, '\0')}) {
    write_file(path, damaged);
    const Run again = run(model_);
    EXPECT_EQ(again.rows, first.rows);
    EXPECT_THAT(again.notes, ElementsAre(HasSubstr("cached weights are made anew: " + path)));
    EXPECT_EQ(read_file(path), whole);
  }
}

TEST_F(CachedModel, LeavesAFileAloneThatIsNotItsOwn) {
  const Run first = run(model_);
  const std::string path = files().front();
  const std::string zeros(read_file(path).size(), '\0');
  write_file(path, zeros);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  for (int i = 0; i < 2; ++i) {
    const Run again = run(model_);
    EXPECT_EQ(again.rows, first.rows);
    EXPECT_THAT(again.notes, ElementsAre(HasSubstr("weights are not cached: " + path)));
    EXPECT_EQ(read_file(path), zeros);
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
