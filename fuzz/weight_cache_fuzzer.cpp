#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/mutate.h"
#include "fuzz/weight_cache.h"

namespace {

using namespace fuselage;
using cpu::WeightCache;

constexpr std::size_t kHeaderBytes = WeightCache::kHeaderBytes;

/// Offsets in weight_cache.cpp's header of the fields that depend on the rest of the file.
constexpr std::size_t kSizeAt = 40, kContentAt = 48, kChecksumAt = kHeaderBytes - 16;

void put_hash(std::string& file, std::size_t at, std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  std::memcpy(file.data() + at, hash.words().data(), sizeof hash.words());
}

/// A temporary folder, which the destructor removes.
struct Folder {
  Folder() {
    // The cache refuses files that other users may write.
    ::umask(S_IRWXG | S_IRWXO);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  const std::string path =
      std::filesystem::temp_directory_path() / ("fuselage-fuzz-" + std::to_string(::getpid()));
};

/// Checks that a found file gives the bytes after its header.
void check_found(const WeightCache& cache, std::string_view file, std::size_t size, bool taken) {
  const cpu::CachedBytes found = cache.find(size);
  check(!found.refused, "the user's own file is refused");
  check(taken == (found.bytes != nullptr), "a file is found that has a problem, or the reverse");
  check(taken == found.note.empty(), "no note tells what is wrong");
  if (taken)
    check(std::memcmp(found.bytes.get(), file.data() + kHeaderBytes, size) == 0,
          "other bytes are found than the file has");
}

}  // namespace

/// Changes header and content separately. Mostly corrects the size and the hashes; sometimes keeps
/// an old one.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::string file(reinterpret_cast<const char*>(data), size);
  if (size < kHeaderBytes || max_size < size || seed % 16 == 0) {
    mutate(file, max_size);
    return hand_over(file, data, max_size);
  }
  std::string header = file.substr(0, kHeaderBytes), content = file.substr(kHeaderBytes);
  if (seed % 2 == 0) {
    mutate(header, kHeaderBytes);
    header.resize(kHeaderBytes);
  } else {
    mutate(content, max_size - kHeaderBytes);
  }
  const std::uint64_t content_bytes = content.size();
  if (seed / 2 % 8 != 1) std::memcpy(header.data() + kSizeAt, &content_bytes, sizeof content_bytes);
  if (seed / 2 % 8 != 2) put_hash(header, kContentAt, content);
  if (seed / 2 % 8 != 3) put_hash(header, kChecksumAt, header.substr(0, kChecksumAt));
  return hand_over(header + content, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  static const WeightCache cache = weight_cache_in(folder.path);
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  std::ofstream(cache.path(), std::ios::binary) << file;
  const std::size_t behind = size - std::min(size, kHeaderBytes);
  const bool taken = cache.problem_of(file, behind).empty();
  check(!taken || size >= kHeaderBytes, "a file without a header is taken");
  check_found(cache, file, behind, taken);
  check_found(cache, file, behind + 1, false);
  return 0;
}
