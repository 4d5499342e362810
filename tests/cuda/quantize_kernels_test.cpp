#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backends/cuda/device/gemm/quantize.h"
#include "fuselage/base/tensor.h"
#include "tests/cuda/op_program.h"

namespace fuselage::cuda {
namespace {

using QuantizeKernelsTest = OpTest;

/// Rows with large and small numbers, ties and zeros, and rows with NaN and infinity.
std::vector<float> difficult_rows(std::int64_t rows, std::int64_t columns) {
  std::mt19937 engine(static_cast<unsigned>(columns));
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      float x = normal(engine) * std::ldexp(1.0f, static_cast<int>(r % 5) * 10);
      if (r % 7 == 2) x = static_cast<float>(static_cast<int>(engine() % 255) - 127) * 0.5f;
      if (r % 7 == 3) x = 0;
      if (r % 7 == 4) x *= 1e-38f;
      if (r % 7 == 5 && c == columns - 1) x = std::numeric_limits<float>::quiet_NaN();
      if (r % 7 == 6 && c == 0) x = -std::numeric_limits<float>::infinity();
      values.push_back(x);
    }
  return values;
}

/// The results of quantize_vector().
std::vector<std::uint32_t> quantized_rows(const Quantizer& quantizer, const std::vector<float>& x,
                                          std::int64_t k) {
  std::vector<std::uint32_t> words;
  const std::size_t size = vector_bytes(quantizer.to, k);
  std::vector<std::byte> vector(size);
  for (std::size_t at = 0; at < x.size(); at += static_cast<std::size_t>(k)) {
    quantize_vector(quantizer, x.data() + at, k, quantization_scale(quantizer, x.data() + at, k),
                    vector.data());
    words.resize(words.size() + size / 4);
    std::memcpy(words.data() + words.size() - size / 4, vector.data(), size);
  }
  return words;
}

TEST_F(QuantizeKernelsTest, BitsAreThoseOfTheDefinition) {
  const Quantizer quantizers[] = {{},
                                  {.largest = 7},
                                  {.scale = 0.25f},
                                  {.to = DType::qint16, .largest = 8191},
                                  {.to = DType::qint16, .largest = 8191, .scale = 0.001f},
                                  {.largest = 64, .logarithmic = true}};
  for (const Quantizer& quantizer : quantizers)
    for (const std::int64_t k : {1, 3, 5, 31, 32, 33, 257, 1030})
      for (const std::int64_t vectors : {1, 3}) {
        constexpr std::int64_t kRows = 14;
        const std::vector<float> x = difficult_rows(kRows * vectors, k);
        const std::vector<std::uint32_t> want = quantized_rows(quantizer, x, k);
        const std::int64_t stride = std::ssize(want) / kRows;
        // Of several vectors a row, the scale is in memory.
        const bool stored = quantizer.scale > 0 && vectors > 1;
        Quantizer given = quantizer;
        if (stored) given.scale = 0;
        DeviceArray<float> from(x), scale(1, quantizer.scale);
        DeviceArray<std::uint32_t> to(want.size() + 4, 7);
        DeviceArray<std::int32_t> live(1, kRows);
        quantize_rows(stream(), given, stored ? scale.data() : nullptr,
                      {.data = from.data(), .stride = k * vectors},
                      {.rows = {live.data(), kRows + 1}, .per_row = vectors, .k = k},
                      {.data = reinterpret_cast<float*>(to.data()), .stride = stride});
        std::vector<std::uint32_t> got = to.to_host();
        EXPECT_EQ(got.back(), 7u);
        got.resize(want.size());
        for (std::size_t i = 0; i < want.size(); ++i)
          ASSERT_EQ(got[i], want[i]) << i << " of " << k << " as " << to_string(quantizer.to);
      }
}

TEST_F(QuantizeKernelsTest, ThereAndBack) {
  for (const char* to : {"qint8", "qint16"}) {
    std::string body = R"(%e = param() {name = "E", domain = vocab, dims = [$n]}
%x = select_rows(%e) {via = [hyp.word]}
%q = quantize(%x) {to = $t, largest = 127}
%y = dequantize(%q)
return y = %y
)";
    body.replace(body.find("$t"), 2, to);
    expect_for_all(body, 1e-7);
  }
}

TEST_F(QuantizeKernelsTest, QuantizedRowsAreSelectedAsTheyAre) {
  expect_for_all(R"(%x = import() {name = "x", domain = sentence, dims = [$n]}
%q = quantize(%x) {to = qint8}
%s = select_rows(%q) {via = [parent.sentence]}
%h = select_rows(%s) {via = [hyp.parent]}
%y = dequantize(%h)
return y = %y
)",
                 1e-7);
}

TEST_F(QuantizeKernelsTest, RowsOfAQuantizedTableAreSelectedAsTheyAre) {
  for (const char* to : {"qint8", "qint16"}) {
    std::string body = R"(%e = param() {name = "E", domain = vocab, dims = [$n]}
%q = quantize(%e) {to = $t, largest = 127}
%x = select_rows(%q) {via = [hyp.word]}
%y = dequantize(%x)
return y = %y
)";
    body.replace(body.find("$t"), 2, to);
    expect_for_all(body, 1e-7);
  }
}

TEST_F(QuantizeKernelsTest, CastsRoundToTheNearest) {
  std::vector<float> x = difficult_rows(14, 33);
  x.insert(x.end(), {1 + 0x1p-8f, 1 + 0x3p-8f, 65504, 65520, 0x1p-25f, 3.39e38f, -0.0f});
  const auto count = static_cast<std::int32_t>(x.size());
  DeviceArray<float> from(x);
  DeviceArray<std::int32_t> live(1, count);
  for (const DType to : {DType::bf16, DType::f16}) {
    DeviceArray<std::uint16_t> out(x.size());
    cast_rows(stream(), {.to = to, .x = from.data(), .out = out.data()}, {live.data(), count}, 1);
    DeviceArray<float> back(x.size());
    cast_rows(stream(), {.from = to, .x = out.data(), .out = back.data()}, {live.data(), count}, 1);
    const std::vector<std::uint16_t> got = out.to_host();
    const std::vector<float> wide = back.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool bf16 = to == DType::bf16;
      const std::uint16_t bits = bf16 ? float_to_bfloat16(x[i]) : float_to_half(x[i]);
      const float number = bf16 ? bfloat16_to_float(bits) : half_to_float(bits);
      if (!std::isnan(number)) {
        EXPECT_EQ(got[i], bits) << x[i];
        EXPECT_EQ(wide[i], number);
      } else {
        EXPECT_TRUE(std::isnan(wide[i])) << x[i];
      }
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda
