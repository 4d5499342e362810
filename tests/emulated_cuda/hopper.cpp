// The copy engine of sm_90, barriers in shared memory, and the driver's maps of tiles.
#include "emulated_cuda/hopper.h"

#include <cuda_runtime.h>

#include <array>
#include <cstring>
#include <random>
#include <string_view>

#include "block.h"
#include "emulated_cuda/control.h"
#include "failure.h"
#include "stream.h"

namespace emulated_cuda {
namespace {

constexpr std::uint8_t kNoArrivals = 0xff;  // of memory that nothing has written
constexpr std::uintptr_t kSwizzleAlignment = 1024;

/// What a CUtensorMap of the emulation holds.
struct EncodedMap {
  const std::byte* data;
  std::uint64_t numbers, vectors, stride;  // stride in bytes
  std::uint32_t box_numbers, box_vectors;
};
static_assert(sizeof(EncodedMap) <= sizeof(CUtensorMap));

thread_local std::vector<TileCopy> delayed;  // of the running block

void end_phase_if_complete(SharedBarrier& barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0) return;
  barrier.missing = barrier.arrivals;
  ++barrier.ended;
  running_block().wake();
}

void check_begun(const SharedBarrier& barrier) {
  if (barrier.arrivals == kNoArrivals) fail("a barrier in shared memory is used before its begin");
}

void execute(const TileCopy& copy) {
  EncodedMap map;
  std::memcpy(&map, copy.map, sizeof map);
  auto* to = static_cast<std::byte*>(copy.to);
  for (std::uint32_t v = 0; v < map.box_vectors; ++v) {
    const std::int64_t vector = std::int64_t{copy.first_vector} + v;
    for (std::uint32_t i = 0; i < map.box_numbers; ++i) {
      const std::int64_t number = std::int64_t{copy.first_number} + i;
      const bool is_there = vector >= 0 && vector < static_cast<std::int64_t>(map.vectors) &&
                            number >= 0 && number < static_cast<std::int64_t>(map.numbers);
      std::uint16_t bits = 0;
      if (is_there)
        std::memcpy(&bits,
                    map.data + static_cast<std::uint64_t>(vector) * map.stride +
                        static_cast<std::uint64_t>(number) * sizeof bits,
                    sizeof bits);
      std::memcpy(to + swizzled_byte(v, i * 2), &bits, sizeof bits);
    }
  }
  copy.barrier->bytes -= static_cast<std::int32_t>(map.box_numbers * map.box_vectors * 2);
  end_phase_if_complete(*copy.barrier);
}

/// Executes the copies that a waiting thread's barrier still lacks.
void execute_delayed(const SharedBarrier& barrier) {
  std::vector<TileCopy> others;
  std::vector<TileCopy> own;
  for (const TileCopy& copy : delayed) (copy.barrier == &barrier ? own : others).push_back(copy);
  delayed = std::move(others);
  for (const TileCopy& copy : own) execute(copy);
}

}  // namespace

void begin_barrier(SharedBarrier& barrier, std::uint32_t arrivals) {
  barrier = {.arrivals = static_cast<std::uint8_t>(arrivals),
             .missing = static_cast<std::uint8_t>(arrivals),
             .ended = 0,
             .bytes = 0};
}

void expect_bytes(SharedBarrier& barrier, std::uint32_t bytes) {
  check_begun(barrier);
  barrier.bytes += static_cast<std::int32_t>(bytes);
}

void arrive(SharedBarrier& barrier) {
  check_begun(barrier);
  if (barrier.missing == 0) fail("more threads arrive at a barrier in shared memory than it has");
  --barrier.missing;
  end_phase_if_complete(barrier);
}

void wait_for_phase(SharedBarrier& barrier, bool odd, fuselage::CodeLocation where) {
  check_begun(barrier);
  const auto has_ended = [&] { return (barrier.ended % 2 != 0) != odd; };
  while (!has_ended()) {
    execute_delayed(barrier);
    if (!has_ended()) running_block().sleep(where);
  }
}

void begin_tile(const TileCopy& copy) {
  check_swizzled(copy.to);
  thread_local std::minstd_rand random(static_cast<unsigned>(seed()));
  if (random() / 16 % 2 == 0) return execute(copy);
  delayed.push_back(copy);
  running_block().wake();  // a thread that waits for it executes it
}

void check_tiles() {
  if (!delayed.empty()) fail("a block ends before copies of tiles that it began");
}

void check_swizzled(const void* tile) {
  if (reinterpret_cast<std::uintptr_t>(tile) % kSwizzleAlignment != 0)
    fail("a swizzled tile is not aligned to 1024 bytes");
}

ProductGroups& products_of_thread() {
  static thread_local std::array<ProductGroups, 1024> groups;
  return groups[running_block().current().number];
}

namespace {

/// The rules of two-dimensional maps of 16-bit numbers that are swizzled by 128 bytes; others are
/// not emulated.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                      const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
  constexpr cuuint32_t kMaxBox = 256;
  constexpr cuuint64_t kMaxSize = cuuint64_t{1} << 32;
  const bool emulated = type == CU_TENSOR_MAP_DATA_TYPE_UINT16 && rank == 2 &&
                        interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
                        swizzle == CU_TENSOR_MAP_SWIZZLE_128B &&
                        fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && steps[0] == 1 && steps[1] == 1;
  const bool possible = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && strides[0] % 16 == 0 &&
                        strides[0] < cuuint64_t{1} << 40 && sizes[0] > 0 && sizes[0] <= kMaxSize &&
                        sizes[1] > 0 && sizes[1] <= kMaxSize && box[0] > 0 && box[0] * 2 <= 128 &&
                        box[1] > 0 && box[1] <= kMaxBox &&
                        reinterpret_cast<std::uintptr_t>(map) % alignof(CUtensorMap) == 0;
  if (!emulated || !possible) return CUDA_ERROR_INVALID_VALUE;
  const EncodedMap encoded{
      static_cast<const std::byte*>(data), sizes[0], sizes[1], strides[0], box[0], box[1]};
  std::memcpy(map, &encoded, sizeof encoded);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace emulated_cuda

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                        unsigned, unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  const bool found = std::string_view(symbol) == "cuTensorMapEncodeTiled";
  *function = found ? reinterpret_cast<void*>(&emulated_cuda::encode_tiled) : nullptr;
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
