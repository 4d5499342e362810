// Products of bytes by an instruction that adds up pairs of them in 16 bits, where it saturates.
// Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_
#undef FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_
#endif

#include "backends/cpu/simd/gemm/panel-inl.h"
#ifdef FUSELAGE_BYTE_PAIRS

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/gemm/integer_arithmetic-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A number x of a row is stored as its magnitude and a byte s, all ones if x is negative, else
// zeros. |x| * (w ^ s) is x * w, or x * w - |x| if x is negative, since ~w is -w - 1: sums lack the
// magnitudes of the row's negative numbers. w ^ s is from -128 to 127, so products by magnitudes
// that add up to at most 256 add up to a short.
//
// A step multiplies two words, of 4 bytes each. The instruction adds up the first and the last pair
// of a word's products; the sums of both words are added in 16 bits, and all of them in 32. Where 4
// magnitudes whose products are added in 16 bits exceed 256, the second word is left out of the
// step and multiplied after all steps: in 2 to 5 % of the steps if numbers are normally
// distributed. If a row has many such steps, the sums of each word are added in 32 bits instead.

/// Makes a row of that form: kStepWords words for each step, of which there is an even number; what
/// the sums lack; the number of words that were left out, or kMany; kLateWords words for each.
class BytePairRow {
 public:
  static constexpr std::size_t kStepBytes = 8;
  /// Magnitudes and signs of the first and of the second word.
  static constexpr std::size_t kStepWords = 4;
  /// The number of the step, and magnitudes and signs of the word that was left out.
  static constexpr std::size_t kLateWords = 3;

  /// For a row that leaves no words out although sums exceed 16 bits.
  static constexpr std::int32_t kMany = -1;

  /// The words of all steps.
  static constexpr std::size_t step_words(std::size_t steps) {
    return (steps + 1) / 2 * 2 * kStepWords;
  }
  static constexpr std::size_t words(std::size_t k) {
    const std::size_t steps = (k + kStepBytes - 1) / kStepBytes;
    return step_words(steps) + 2 + steps * kLateWords;
  }

  /// Makes words(k) words of k bytes.
  BytePairRow(const std::byte* bytes, std::size_t k, std::int32_t* words) : words_(words) {
    const std::size_t steps = (k + kStepBytes - 1) / kStepBytes;
    std::int32_t* const lacking = words + step_words(steps);
    late_ = lacking + 2;
    std::size_t i = 0;
    for (; i + kBlockBytes <= k; i += kBlockBytes) add(i / kStepBytes, bytes + i);
    if (i < k) {
      std::byte rest[kBlockBytes] = {};
      std::memcpy(rest, bytes + i, k - i);
      add(i / kStepBytes, rest);
    }
    lacking[0] = -hn::GetLane(hn::SumOfLanes(Words(), negative_));
    lacking[1] = static_cast<std::int32_t>((late_ - lacking - 2) / kLateWords);
    if (lacking[1] > most_late(steps)) {
      put_back(lacking + 2);
      lacking[1] = kMany;
    }
  }

 private:
  static constexpr std::size_t kBlockBytes = 16;
  static constexpr std::int16_t kMostMagnitudes = 256;

  using Words = hn::Full128<std::int32_t>;
  using Shorts = hn::Full128<std::int16_t>;
  using Bytes = hn::Full128<std::int8_t>;

  /// Adds the two steps of a block.
  HWY_INLINE void add(std::size_t step, const std::byte* block) {
    const auto x = hn::LoadU(Bytes(), reinterpret_cast<const std::int8_t*>(block));
    const auto magnitudes = hn::Abs(x), signs = hn::BroadcastSignBit(x);
    std::int32_t* const to = words_ + step * kStepWords;
    const auto first = hn::BitCast(Words(), magnitudes), second = hn::BitCast(Words(), signs);
    hn::StoreU(hn::InterleaveLower(Words(), first, second), Words(), to);
    hn::StoreU(hn::InterleaveUpper(Words(), first, second), Words(), to + kStepWords);
    // By signs as numbers, 0 and -1.
    negative_ = hn::Add(negative_, hn::Vec<Words>{_mm_madd_epi16(
                                       multiply_pairs(magnitudes, signs).raw, _mm_set1_epi16(1))});

    const auto pairs = hn::BitCast(Words(), multiply_pairs(magnitudes, hn::Set(Bytes(), 1)));
    const auto others = hn::BitCast(Shorts(), hn::Shuffle2301(pairs));
    const auto sums = hn::Add(hn::BitCast(Shorts(), pairs), others);
    const auto exceed = hn::Gt(sums, hn::Set(Shorts(), kMostMagnitudes));
    if (HWY_LIKELY(hn::AllFalse(Shorts(), exceed))) return;
    alignas(kBlockBytes) std::int32_t masks[4];  // equal ones for both words of a step
    hn::Store(hn::BitCast(Words(), hn::VecFromMask(Shorts(), exceed)), Words(), masks);
    for (std::size_t i = 0; i < 2; ++i)
      if (masks[2 * i] != 0) leave_out(step + i);
  }

  void leave_out(std::size_t step) {
    std::int32_t* const second = second_word(step);
    *late_++ = static_cast<std::int32_t>(step);
    for (std::size_t i = 0; i < 2; ++i) {
      *late_++ = second[i];
      second[i] = 0;
    }
  }

  /// More words take longer after all steps than sums in 32 bits take in them. A quarter or a
  /// sixteenth of the steps would do as well.
  static constexpr std::int32_t most_late(std::size_t steps) {
    return static_cast<std::int32_t>(steps / 8);
  }

  void put_back(const std::int32_t* late) {
    for (; late != late_; late += kLateWords)
      std::copy_n(late + 1, 2, second_word(static_cast<std::size_t>(late[0])));
  }

  std::int32_t* second_word(std::size_t step) { return words_ + step * kStepWords + 2; }

  std::int32_t* words_;
  std::int32_t* late_;
  hn::Vec<Words> negative_ = hn::Zero(Words());  // sums of the negative numbers
};

struct WideInt8Arithmetic;

/// Exact sums of bytes, for rows of that form.
struct Int8Arithmetic : QuantizedArithmetic<BytePairRow::kStepBytes> {
  static constexpr bool kPrepares = true;
  // The sums of more rows would not leave the registers that a step needs.
  static constexpr std::size_t kTileRows = 3;
  // A word of each of a panel's columns.
  static constexpr std::size_t kWordBytes = kPanel * sizeof(std::int32_t);

  Int8Arithmetic(const PackedMatrix& b, std::size_t panel) : QuantizedArithmetic(b, panel) {
    groups /= 2;  // steps
  }

  static std::size_t prepared_elements(std::size_t k) { return 1 + BytePairRow::words(k); }
  static void prepare(const float* row, std::size_t k, float* out) {
    out[0] = row[0];
    BytePairRow(reinterpret_cast<const std::byte*>(row + 1), k, words_of(out));
  }

  void skip(std::size_t vectors) {
    data += bytes_before(vectors, groups);
    scales += vectors * kLanes;
  }
  static constexpr std::size_t bytes_before(std::size_t v, std::size_t steps) {
    return v / kPanelVectors * steps * 2 * kWordBytes + v % kPanelVectors * HWY_MAX_BYTES;
  }

  /// The words of a step of kLanes columns.
  struct Right {
    ByteVector words[2];
  };

  static HWY_INLINE Right right(const std::byte* b) {
    return {{load_bytes(b), load_bytes(b + kWordBytes)}};
  }

  template <std::size_t kCount>
  static HWY_INLINE void multiply_add_row(const float* row, std::size_t i,
                                          const Right (&right)[kCount], IntSums (&sums)[kCount]) {
    multiply_step(row, i, right, sums, [](PairVector first, PairVector second, IntSums sum) {
      return add_pair_sums(hn::Add(first, second), sum);
    });
  }

  /// The arithmetic for rows some of which leave no words out, although sums exceed 16 bits.
  using Wide = WideInt8Arithmetic;
  template <std::size_t kRows>
  HWY_INLINE bool needs_wide(const float* const (&rows)[kRows]) const {
    std::int32_t least = 0;
    for (const float* row : rows)
      least = std::min(least, words_of(row)[BytePairRow::step_words(groups) + 1]);
    return least == BytePairRow::kMany;
  }

  /// Adds the products of the words that were left out.
  template <std::size_t kCount>
  HWY_INLINE void multiply_add_rest(const float* row, IntSums (&sums)[kCount]) const {
    const std::int32_t* late = words_of(row) + BytePairRow::step_words(groups) + 1;
    for (std::int32_t count = *late++; count > 0; --count, late += BytePairRow::kLateWords) {
      const std::byte* const b = data + (2 * static_cast<std::size_t>(late[0]) + 1) * kWordBytes;
      const Word word(late + 1);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        sums[v] = add_pair_sums(word.multiply(load_bytes(b + bytes_before(v, groups))), sums[v]);
    }
  }

  HWY_INLINE Vector finish(IntSums sums, const float* row, std::size_t v) const {
    const std::int32_t lacking = words_of(row)[BytePairRow::step_words(groups)];
    const IntVector all = hn::Add(as_vector(sums), hn::Set(IntTag(), lacking));
    return QuantizedArithmetic::finish(as_sums(all), row, v);
  }

 protected:
  /// A row's word, in every lane.
  struct Word {
    explicit HWY_INLINE Word(const std::int32_t* word)
        : magnitudes(hn::BitCast(ByteTag(), hn::Set(IntTag(), word[0]))),
          signs(hn::BitCast(ByteTag(), hn::Set(IntTag(), word[1]))) {}

    HWY_INLINE PairVector multiply(ByteVector columns) const {
      return multiply_pairs(magnitudes, hn::Xor(columns, signs));
    }

    ByteVector magnitudes, signs;
  };

  /// Adds the products of both words of step i, with `add`.
  template <std::size_t kCount, class Add>
  static HWY_INLINE void multiply_step(const float* row, std::size_t i,
                                       const Right (&right)[kCount], IntSums (&sums)[kCount],
                                       const Add& add) {
    const std::int32_t* const words = words_of(row) + i * BytePairRow::kStepWords;
    const Word first(words), second(words + 2);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v)
      sums[v] = add(first.multiply(right[v].words[0]), second.multiply(right[v].words[1]), sums[v]);
  }

  static HWY_INLINE std::int32_t* words_of(float* row) {
    return reinterpret_cast<std::int32_t*>(row + 1);
  }
  static HWY_INLINE const std::int32_t* words_of(const float* row) {
    return reinterpret_cast<const std::int32_t*>(row + 1);
  }

  static HWY_INLINE ByteVector load_bytes(const std::byte* p) {
    return hn::Load(ByteTag(), reinterpret_cast<const std::uint8_t*>(p));
  }
};

/// The same with the sums of each word added in 32 bits.
struct WideInt8Arithmetic : Int8Arithmetic {
  explicit WideInt8Arithmetic(const Int8Arithmetic& panels) : Int8Arithmetic(panels) {}

  template <std::size_t kCount>
  static HWY_INLINE void multiply_add_row(const float* row, std::size_t i,
                                          const Right (&right)[kCount], IntSums (&sums)[kCount]) {
    multiply_step(row, i, right, sums, [](PairVector first, PairVector second, IntSums sum) {
      return add_pair_sums(second, add_pair_sums(first, sum));
    });
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_BYTE_PAIRS
#endif  // FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_
