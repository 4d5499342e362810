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
#include <utility>

#include "backends/cpu/simd/gemm/integer_arithmetic-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A number x of a row is stored as its magnitude and a byte s, all ones if x is negative, else
// zeros. |x| * (w ^ s) is x * w, or x * w - |x| if x is negative, since ~w is -w - 1: sums lack the
// magnitudes of the row's negative numbers. w ^ s is from -128 to 127, so products by magnitudes
// that add up to at most 256 add up to a short.
//
// The instruction adds up the first and the last pair of products of a word, of 4 bytes. These sums
// are added in 16 bits for two words of a row, or for four if it has no negative numbers, as after
// a relu, which makes many zeros; and then in 32. Where the magnitudes whose products are added in
// 16 bits exceed 256, the last words are left out and multiplied after all steps: in 2 to 5 % of
// the sums of two words if numbers are normally distributed. If a row has many such words, the sums
// of each word are added in 32 bits instead.

/// Makes a row of that form: kBlockWords words for each block of four, kEndWords behind them, and
/// kLateWords for each word that was left out.
class BytePairRow {
 public:
  static constexpr std::size_t kBlockBytes = 16;
  /// Magnitudes and signs of each word.
  static constexpr std::size_t kBlockWords = 8;
  /// What the sums lack, the number of words whose sums are added in 16 bits (4, 2 or 1), and the
  /// number of words that were left out.
  static constexpr std::size_t kLacking = 0, kTogether = 1, kLate = 2, kEndWords = 3;
  /// The number of the word that was left out, magnitudes and signs.
  static constexpr std::size_t kLateWords = 3;

  static constexpr std::size_t words(std::size_t k) {
    const std::size_t blocks = (k + kBlockBytes - 1) / kBlockBytes;
    return blocks * kBlockWords + kEndWords + most_late(4, blocks) * kLateWords;
  }

  /// Makes words(k) words of k bytes.
  BytePairRow(const std::byte* bytes, std::size_t k, std::int32_t* words)
      : words_(words), blocks_((k + kBlockBytes - 1) / kBlockBytes) {
    auto negative = hn::Zero(Words());  // sums of the negative numbers
    std::size_t i = 0;
    for (; i + kBlockBytes <= k; i += kBlockBytes)
      negative = hn::Add(negative, add(i / kBlockBytes, bytes + i));
    if (i < k) {
      std::byte rest[kBlockBytes] = {};
      std::memcpy(rest, bytes + i, k - i);
      negative = hn::Add(negative, add(i / kBlockBytes, rest));
    }
    std::int32_t* const end = words_ + blocks_ * kBlockWords;
    end[kLacking] = -hn::GetLane(hn::SumOfLanes(Words(), negative));
    end[kTogether] = static_cast<std::int32_t>(together_);
    end[kLate] = static_cast<std::int32_t>(late_);
  }

 private:
  static constexpr std::size_t kMaxMagnitudes = 256;
  static constexpr std::size_t kWords = kBlockWords / 2;

  using Words = hn::Full128<std::int32_t>;
  using Shorts = hn::Full128<std::int16_t>;
  using Bytes = hn::Full128<std::int8_t>;

  /// Makes the words of a block; sums of its negative numbers.
  HWY_INLINE hn::Vec<Words> add(std::size_t block, const std::byte* bytes) {
    const auto x = hn::LoadU(Bytes(), reinterpret_cast<const std::int8_t*>(bytes));
    const auto magnitudes = hn::Abs(x), signs = hn::BroadcastSignBit(x);
    std::int32_t* const to = words_ + block * kBlockWords;
    const auto first = hn::BitCast(Words(), magnitudes), second = hn::BitCast(Words(), signs);
    hn::StoreU(hn::InterleaveLower(Words(), first, second), Words(), to);
    hn::StoreU(hn::InterleaveUpper(Words(), first, second), Words(), to + kBlockWords / 2);
    if (together_ == 4 && !hn::AllFalse(Bytes(), hn::Lt(x, hn::Zero(Bytes())))) add_fewer(block);
    const auto pairs = hn::BitCast(Words(), multiply_pairs(magnitudes, hn::Set(Bytes(), 1)));
    auto sums = sum_of_shorts(pairs, hn::Shuffle2301(pairs));
    if (together_ == 4) sums = sum_of_shorts(sums, hn::Shuffle1032(sums));
    const auto too_large = hn::Gt(hn::BitCast(Shorts(), sums), hn::Set(Shorts(), kMaxMagnitudes));
    if (HWY_UNLIKELY(!hn::AllFalse(Shorts(), too_large)) && together_ > 1) make_fit(block);
    // By signs as numbers, 0 and -1.
    return hn::Vec<Words>{_mm_madd_epi16(multiply_pairs(magnitudes, signs).raw, _mm_set1_epi16(1))};
  }

  static HWY_INLINE hn::Vec<Words> sum_of_shorts(hn::Vec<Words> a, hn::Vec<Words> b) {
    return hn::BitCast(Words(), hn::Add(hn::BitCast(Shorts(), a), hn::BitCast(Shorts(), b)));
  }

  HWY_INLINE void make_fit(std::size_t block) {
    const std::size_t begin = block * kWords, end = begin + kWords;
    if (!(together_ == 2 ? leave_out_excess<2>(begin, end) : leave_out_excess<4>(begin, end)))
      add_fewer(block);
  }

  /// Adds fewer words in all blocks up to this one.
  HWY_NOINLINE void add_fewer(std::size_t block) {
    put_back();
    together_ /= 2;
    if (together_ == 2 && leave_out_excess<2>(0, (block + 1) * kWords)) return;
    put_back();
    together_ = 1;
  }

  /// Leaves out the last of each kTogether words from begin to end - 1, until the magnitudes of the
  /// others fit; false if the row has too many such words.
  template <std::size_t kTogether>
  HWY_INLINE bool leave_out_excess(std::size_t begin, std::size_t end) {
    for (; begin < end; begin += kTogether)
      for (std::size_t last = begin + kTogether - 1; last > begin && exceed(begin, last); --last) {
        if (late_ == most_late(kTogether, blocks_)) return false;
        std::int32_t* const late = late_word(late_++);
        late[0] = static_cast<std::int32_t>(last);
        for (std::size_t i = 0; i < 2; ++i) late[1 + i] = std::exchange(words_[2 * last + i], 0);
      }
    return true;
  }

  /// Whether magnitudes of words first to last exceed what fits.
  HWY_INLINE bool exceed(std::size_t first, std::size_t last) const {
    std::uint32_t sums = 0;  // of the first and of the last pairs
    for (std::size_t w = first; w <= last; ++w) {
      const auto word = static_cast<std::uint32_t>(words_[2 * w]);
      sums += (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
    }
    return (sums & 0xffffu) > kMaxMagnitudes || sums >> 16 > kMaxMagnitudes;
  }

  /// More words take longer after all steps than they take in steps that add fewer words.
  static constexpr std::size_t most_late(std::size_t together, std::size_t blocks) {
    return together * blocks / 8;
  }

  void put_back() {
    while (late_ > 0) {
      const std::int32_t* const late = late_word(--late_);
      std::copy_n(late + 1, 2, words_ + 2 * static_cast<std::size_t>(late[0]));
    }
  }

  std::int32_t* late_word(std::size_t i) const {
    return words_ + blocks_ * kBlockWords + kEndWords + i * kLateWords;
  }

  std::int32_t* words_;
  std::size_t blocks_;
  std::size_t together_ = 4, late_ = 0;
};

struct WideInt8Arithmetic;
struct UnsignedInt8Arithmetic;

/// Exact sums of bytes, for rows of that form.
struct Int8Arithmetic : QuantizedArithmetic<8> {
  static constexpr bool kPrepares = true;
  // The sums of more rows would not leave the registers that a step needs.
  static constexpr std::size_t kTileRows = 3;
  // A word of each of a panel's columns.
  static constexpr std::size_t kWordBytes = kPanel * sizeof(std::int32_t);

  Int8Arithmetic(const PackedMatrix& b, std::size_t panel) : QuantizedArithmetic(b, panel) {
    groups /= 2;  // steps of two words
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

  /// The words of a step of kLanes columns. With 16 registers they are read from memory each time.
  struct Right {
    HWY_INLINE ByteVector word(std::size_t w) const { return load_bytes(bytes + w * kWordBytes); }

    const std::byte* bytes;
  };

  static HWY_INLINE Right right(const std::byte* b) { return {b}; }

  template <std::size_t kCount>
  static HWY_INLINE void multiply_add_row(const float* row, std::size_t i,
                                          const Right (&right)[kCount], IntSums (&sums)[kCount]) {
    multiply_step(row, i, right, sums, [](PairVector first, PairVector second, IntSums sum) {
      return add_pair_sums(hn::Add(first, second), sum);
    });
  }

  /// The arithmetic for rows some of which have sums of single words only.
  using Wide = WideInt8Arithmetic;
  template <std::size_t kRows>
  HWY_INLINE bool needs_wide(const float* const (&rows)[kRows]) const {
    return fewest_together(rows) == 1;
  }

  /// The arithmetic for rows that all have sums of four words, and so no negative numbers.
  using Unsigned = UnsignedInt8Arithmetic;
  template <std::size_t kRows>
  HWY_INLINE bool are_unsigned(const float* const (&rows)[kRows]) const {
    return fewest_together(rows) == 4;
  }

  /// Adds the products of the words that were left out.
  template <std::size_t kCount>
  HWY_INLINE void multiply_add_rest(const float* row, IntSums (&sums)[kCount]) const {
    const std::int32_t* late = end_of(row) + BytePairRow::kEndWords;
    std::int32_t count = end_of(row)[BytePairRow::kLate];
    for (; count > 0; --count, late += BytePairRow::kLateWords) {
      const std::byte* const b = data + static_cast<std::size_t>(late[0]) * kWordBytes;
      const Word word(late + 1);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        sums[v] = add_pair_sums(word.multiply(load_bytes(b + bytes_before(v, groups))), sums[v]);
    }
  }

  HWY_INLINE Vector finish(IntSums sums, const float* row, std::size_t v) const {
    const IntVector all =
        hn::Add(as_vector(sums), hn::Set(IntTag(), end_of(row)[BytePairRow::kLacking]));
    return QuantizedArithmetic::finish(as_sums(all), row, v);
  }

 protected:
  static HWY_INLINE ByteVector broadcast_word(const std::int32_t* word) {
    return hn::BitCast(ByteTag(), hn::Set(IntTag(), *word));
  }

  /// A row's word, in every lane.
  struct Word {
    explicit HWY_INLINE Word(const std::int32_t* word)
        : magnitudes(broadcast_word(word)), signs(broadcast_word(word + 1)) {}

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
    const std::int32_t* const words = words_of(row) + i * 4;
    const Word first(words), second(words + 2);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v)
      sums[v] = add(first.multiply(right[v].word(0)), second.multiply(right[v].word(1)), sums[v]);
  }

  /// The number of words whose sums are added in 16 bits in all rows.
  template <std::size_t kRows>
  HWY_INLINE std::int32_t fewest_together(const float* const (&rows)[kRows]) const {
    std::int32_t fewest = 4;
    for (const float* row : rows) fewest = std::min(fewest, end_of(row)[BytePairRow::kTogether]);
    return fewest;
  }

  HWY_INLINE const std::int32_t* end_of(const float* row) const {
    return words_of(row) + groups * 4;
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

/// The same without signs, in steps of four words, whose sums are added in 16 bits.
struct UnsignedInt8Arithmetic : Int8Arithmetic {
  static constexpr std::size_t kGroupBytes = BytePairRow::kBlockBytes;

  explicit UnsignedInt8Arithmetic(const Int8Arithmetic& panels) : Int8Arithmetic(panels) {
    groups /= 2;
  }

  static constexpr std::size_t bytes_before(std::size_t v, std::size_t steps) {
    return Int8Arithmetic::bytes_before(v, 2 * steps);
  }

  template <std::size_t kCount>
  static HWY_INLINE void multiply_add_row(const float* row, std::size_t i,
                                          const Right (&right)[kCount], IntSums (&sums)[kCount]) {
    const std::int32_t* const words = words_of(row) + i * BytePairRow::kBlockWords;
    const auto pairs = [words](const Right& column, std::size_t w) {
      return multiply_pairs(broadcast_word(words + 2 * w), column.word(w));
    };
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v)
      sums[v] = add_pair_sums(hn::Add(hn::Add(pairs(right[v], 0), pairs(right[v], 1)),
                                      hn::Add(pairs(right[v], 2), pairs(right[v], 3))),
                              sums[v]);
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_BYTE_PAIRS
#endif  // FUSELAGE_CPU_KERNELS_BYTE_PAIRS_INL_H_
