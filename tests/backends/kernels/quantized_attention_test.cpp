// Attention to quantized keys and values: bitwise what the table says, at every level.

#include <cstdint>
#include <vector>

#include "tests/backends/kernels/quantized_vectors.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu::quantized_attention_test {
namespace {

class QuantizedAttentionTest : public KernelTest {};

const std::vector<std::size_t> kHeadWidths = {1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 130};

/// Left rows 0 and 1 share their right rows, so do rows 3 to 10; row 2 has none. Pairs begin off 0.
const std::vector<std::int32_t> kRight = {7, 7, 4, 0, 2, 4, 0, 2, 5, 1, 6, 3, 5, 1,
                                          6, 3, 5, 1, 6, 3, 5, 1, 6, 3, 5, 1, 6, 3,
                                          5, 1, 6, 3, 5, 1, 6, 3, 5, 1, 6, 3};
const std::vector<std::int32_t> kBegin = {2, 5, 8, 8, 12, 16, 20, 24, 28, 32, 36, 40};
constexpr std::size_t kLeftRows = 11, kRightRows = 8;

Segments all_segments() { return {kBegin.data(), kLeftRows}; }
std::size_t pair_count() { return kRight.size(); }

/// The left row of each pair; of the pairs before the first segment, any.
std::vector<std::int32_t> left_rows() {
  std::vector<std::int32_t> left(pair_count(), 0);
  for (std::size_t i = 0; i < kLeftRows; ++i)
    for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p)
      left[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(i);
  return left;
}

/// Rows of `heads` quantized vectors each.
class HeadRows {
 public:
  HeadRows(DType dtype, std::size_t rows, std::size_t heads, std::size_t width,
           std::int32_t largest, unsigned seed)
      : heads_(heads),
        vectors_(QuantizedVectors::random(dtype, rows * heads, width, largest, seed, 0)) {}

  RowsIn in(const std::vector<std::int32_t>& index) const {
    const std::size_t columns = heads_ * vectors_.matrix().cols();
    return {vectors_.matrix().row(0), columns, index.data(), nullptr, columns};
  }
  float& scale(std::size_t row, std::size_t head) { return vectors_.scale(row * heads_ + head); }
  float scale(std::size_t row, std::size_t head) const {
    return vectors_.scale(row * heads_ + head);
  }
  std::int32_t at(std::size_t row, std::size_t head, std::size_t i) const {
    return vectors_.at(row * heads_ + head, i);
  }

 private:
  std::size_t heads_;
  QuantizedVectors vectors_;
};

bool same(float a, float b) { return same_bits(&a, &b, 1) || (std::isnan(a) && std::isnan(b)); }

TEST_P(QuantizedAttentionTest, ScoresAreExactIntegersTimesTheirScales) {
  const std::vector<std::int32_t> left = left_rows();
  for (const std::size_t width : kHeadWidths)
    for (const std::size_t heads : {1, 3, 4, 8}) {
      const HeadRows q(DType::qint16, kLeftRows, heads, width, kLargestOfInt16Rows, 1);
      HeadRows k(DType::qint8, kRightRows, heads, width, 127, 2);
      k.scale(6, 0) = kNaN;
      k.scale(4, heads - 1) = 0;
      Matrix got = Matrix::result(pair_count(), heads, 0);
      kernels().quantized_dot_scores(q.in(left), k.in(kRight), {heads, width, 0.3f}, all_segments(),
                                     got.row(0));
      ASSERT_TRUE(got.guards_intact());
      for (std::size_t p = 0; p < pair_count(); ++p)
        for (std::size_t h = 0; h < heads; ++h) {
          float want = Matrix::kGuard;  // the pairs before the first segment
          if (p >= static_cast<std::size_t>(kBegin[0])) {
            const auto l = static_cast<std::size_t>(left[p]);
            const auto r = static_cast<std::size_t>(kRight[p]);
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < width; ++i)
              sum += std::int64_t{q.at(l, h, i)} * k.at(r, h, i);
            want = static_cast<float>(sum) * (q.scale(l, h) * k.scale(r, h)) * 0.3f;
          }
          ASSERT_TRUE(same(got(p, h), want)) << got(p, h) << " for " << want << ", pair " << p
                                             << ", head " << h << " of " << heads << ", " << width;
        }
    }
}

TEST_P(QuantizedAttentionTest, SumsFit32BitsUpToTheGreatestWidth) {
  constexpr auto kWidth = static_cast<std::size_t>(kMaxInt16Int8Products);
  const auto all = [](DType dtype, std::int32_t integer) {
    return QuantizedVectors(
        dtype, 1, kWidth, 0, [](std::size_t) { return 1.0f; },
        [integer](std::size_t, std::size_t) { return integer; });
  };
  const std::vector<std::int32_t> begin = {0, 1};
  for (const std::int32_t largest : {127, -127}) {
    const QuantizedVectors q = all(DType::qint16, kLargestOfInt16Rows),
                           k = all(DType::qint8, largest);
    float score = 0;
    kernels().quantized_dot_scores(q.matrix().in(), k.matrix().in(), {1, kWidth, 1.0f},
                                   {begin.data(), 1}, &score);
    EXPECT_EQ(score, static_cast<float>(std::int64_t{kLargestOfInt16Rows} * largest *
                                        static_cast<std::int64_t>(kWidth)));
  }
}

TEST_P(QuantizedAttentionTest, MixturesAreSumsInOrder) {
  for (const std::size_t width : kHeadWidths)
    for (const std::size_t heads : {1, 3, 4, 8}) {
      const HeadRows x(DType::qint8, kRightRows, heads, width, 127, 3);
      const Matrix weights = Matrix::random(pair_count(), heads, 4, 1.0f, 0);
      Matrix got = Matrix::result(kLeftRows, heads * width);
      kernels().mix_quantized_rows(weights.row(0), {heads, width, 1}, x.in(kRight), all_segments(),
                                   got.out());
      ASSERT_TRUE(got.guards_intact());
      for (std::size_t i = 0; i < kLeftRows; ++i)
        for (std::size_t h = 0; h < heads; ++h)
          for (std::size_t c = 0; c < width; ++c) {
            float want = 0;
            for (auto p = static_cast<std::size_t>(kBegin[i]);
                 p < static_cast<std::size_t>(kBegin[i + 1]); ++p) {
              const auto r = static_cast<std::size_t>(kRight[p]);
              const float product =
                  weights(p, h) * x.scale(r, h) * static_cast<float>(x.at(r, h, c));
              want += product;
            }
            ASSERT_TRUE(same(got(i, h * width + c), want))
                << got(i, h * width + c) << " for " << want << ", row " << i << ", head " << h
                << " of " << heads << ", column " << c << " of " << width;
          }
    }
}

FUSELAGE_TEST_EVERY_LEVEL(QuantizedAttentionTest);

}  // namespace
}  // namespace fuselage::cpu::quantized_attention_test
