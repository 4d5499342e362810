#include "base/files/mapped_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes.get()), file.size};
}

TEST(AllocatePages, GivesZerosOfAnySize) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097},
                                  (std::size_t{2} << 20) - 1, (std::size_t{5} << 20) + 3}) {
    const Pages pages = allocate_pages(bytes);
    EXPECT_TRUE(std::all_of(pages.get(), pages.get() + bytes,
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(pages.get(), bytes, std::byte{1});
  }
}

TEST(AllocatePages, AlignsWhatFillsAHugePage) {
  for (const std::size_t bytes : {std::size_t{2} << 20, (std::size_t{3} << 20) + 1})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(allocate_pages(bytes).get()) % (2u << 20), 0u);
}

TEST(AllocatePages, RefusesWhatNoMemoryHolds) {
  EXPECT_THROW(allocate_pages(std::size_t{1} << 60), Error);
  EXPECT_THROW(allocate_pages(~std::size_t{0}), Error);
}

TEST(GiveBackPages, LeavesWhatLiesBeside) {
  constexpr std::size_t kBytes = 5 * 4096;
  std::vector<std::byte> bytes(kBytes, std::byte{1});
  give_back_pages(bytes.data() + 100, kBytes - 200);
  EXPECT_EQ(std::count(bytes.begin(), bytes.begin() + 100, std::byte{1}), 100);
  EXPECT_EQ(std::count(bytes.end() - 100, bytes.end(), std::byte{1}), 100);
  EXPECT_GE(std::count(bytes.begin(), bytes.end(), std::byte{0}), 3 * 4096);
  give_back_pages(bytes.data(), 10);
  EXPECT_EQ(bytes[0], std::byte{1});
}

TEST(MapFile, ShowsItsContent) {
  const std::string path = temp_path("mapped");
  write_file_atomically(path, "abc");
  const MappedFile file = map_file(path);
  EXPECT_EQ(text_of(file), "abc");
  write_file_atomically(path, "other");
  EXPECT_EQ(text_of(file), "abc") << "the file that was mapped is still there";
  std::filesystem::remove(path);
}

TEST(MapFile, KeepsWhatIsWrittenToItself) {
  const std::string path = temp_path("mapped");
  write_file_atomically(path, "abc");
  const MappedFile file = map_file(path);
  file.bytes[0] = std::byte{'x'};
  EXPECT_EQ(text_of(file), "xbc");
  EXPECT_EQ(text_of(map_file(path)), "abc");
  std::filesystem::remove(path);
}

TEST(MapFile, TakesAnEmptyFile) {
  const std::string path = temp_path("empty");
  write_file_atomically(path, "");
  EXPECT_EQ(map_file(path).size, 0u);
  std::filesystem::remove(path);
}

TEST(MapFile, RefusesWhatIsNoFile) {
  EXPECT_THROW(map_file(temp_path("nowhere")), Error);
  EXPECT_THROW(map_file(::testing::TempDir()), Error);
  EXPECT_THROW(map_file("/dev/null"), Error);
  const std::string pipe = temp_path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(map_file(pipe), Error) << "without waiting for a writer";
  std::filesystem::remove(pipe);
}

TEST(MapShared, ShowsWhatAFileBeginsWith) {
  const std::string path = temp_path("shared");
  write_file_atomically(path, "abc");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Pages pages = map_shared(file, 2);
  std::filesystem::remove(path);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(pages.get()), 2), "ab");
  EXPECT_EQ(map_shared(Descriptor(-1), 2), nullptr);
  EXPECT_EQ(map_shared(file, 0), nullptr);
}

}  // namespace
}  // namespace fuselage
