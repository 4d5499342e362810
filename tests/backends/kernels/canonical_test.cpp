// The bytes of every kernel but the product of floats are the same at every level of the machine.

#include <cstring>
#include <functional>

#include "tests/backends/kernels/output_support.h"
#include "tests/backends/kernels/quantized_vectors.h"

namespace fuselage::cpu::canonical_test {
namespace {

/// What kernels wrote, bit by bit but for the bits of NaNs.
class Bytes {
 public:
  void add(const float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) bits_.push_back(std::isnan(x[i]) ? kNaN : x[i]);
  }
  void add(const Matrix& m) {
    for (std::size_t r = 0; r < m.rows(); ++r) add(m.row(r), m.cols());
  }
  void add(const Ranked& best) {
    add(best.values.data(), best.values.size());
    for (const std::int32_t id : best.ids) bits_.push_back(std::bit_cast<float>(id));
  }

  /// Of the first that differ; the size if none do.
  std::size_t first_difference(const Bytes& other) const {
    if (bits_.size() != other.bits_.size()) return 0;
    for (std::size_t i = 0; i < bits_.size(); ++i)
      if (!same_bits(&bits_[i], &other.bits_[i], 1)) return i;
    return bits_.size();
  }
  std::size_t size() const { return bits_.size(); }
  float at(std::size_t i) const { return bits_.at(i); }

 private:
  std::vector<float> bits_;
};

/// Runs `work`, which appends what kernels() made, at every level.
void expect_same_bytes(const std::function<void(Bytes&)>& work) {
  const std::vector<std::string> isas = supported_isas();
  Bytes want;
  for (const std::string& isa : isas) {
    force_isa(isa);
    Bytes got;
    work(got);
    ASSERT_GT(got.size(), 0u);
    if (isa == isas.front()) want = got;
    const std::size_t i = got.first_difference(want);
    ASSERT_EQ(i, got.size()) << isa << " gives " << got.at(i) << " where " << isas.front()
                             << " gives " << want.at(i);
  }
}

constexpr float kDenormal = 1e-40f;
constexpr float kLargest = std::numeric_limits<float>::max();
const std::vector<float> kSpecial = {0.0f,       -0.0f,    kInf,      -kInf,  kNaN,    kDenormal,
                                     -kDenormal, 88.72f,   89.0f,     -87.3f, -103.9f, 1e-30f,
                                     3e4f,       kLargest, -kLargest, 1.0f,   -1.0f,   16777216.5f};

/// Random numbers of all sizes, and special ones in `share` of the places.
Matrix numbers(std::size_t rows, std::size_t cols, unsigned seed, float scale, double share) {
  Matrix m = Matrix::random(rows, cols, seed, scale);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c)
      if (uniform(engine) < share) m(r, c) = kSpecial[engine() % kSpecial.size()];
  return m;
}

/// The same, with special numbers in the last of its rows alone.
Matrix some_special(std::size_t rows, std::size_t cols, unsigned seed, float scale) {
  Matrix m = numbers(rows, cols, seed, scale, 0);
  for (std::size_t c = 0; c < cols; ++c)
    if ((c + seed) % 3 == 0) m(rows - 1, c) = kSpecial[(c + seed) % kSpecial.size()];
  return m;
}

constexpr Unary kUnaries[] = {
    Unary::neg,           Unary::sigmoid,    Unary::tanh, Unary::sigmoid_fast, Unary::tanh_fast,
    Unary::sigmoid_table, Unary::tanh_table, Unary::relu, Unary::swish,        Unary::gelu,
    Unary::exp,           Unary::log,        Unary::sqrt, Unary::abs};
constexpr Binary kBinaries[] = {Binary::add,        Binary::sub,       Binary::mul,
                                Binary::div,        Binary::max,       Binary::min,
                                Binary::equal,      Binary::not_equal, Binary::less,
                                Binary::less_equal, Binary::greater,   Binary::greater_equal};

TEST(Canonical, FunctionsOverAllNumbers) {
  // Every 65521st of all floats, whatever it is.
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 65521)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const Unary op : kUnaries)
    expect_same_bytes([&](Bytes& bytes) {
      std::vector<float> y(x.size());
      kernels().unary_row(op, false)(x.data(), x.size(), y.data());
      bytes.add(y.data(), y.size());
    });
}

TEST(Canonical, Pointwise) {
  for (const std::size_t cols : kColumnCounts)
    for (const float scale : {0.01f, 1.0f, 30.0f}) {
      const Matrix a = numbers(5, cols, 1, scale, 0.2), b = numbers(5, cols, 2, scale, 0.2);
      const Matrix single = numbers(5, 1, 3, scale, 0.2);
      expect_same_bytes([&](Bytes& bytes) {
        Matrix y(5, cols);
        for (const Unary op : kUnaries) {
          kernels().unary(op, a.in(), 5, cols, y.out());
          bytes.add(y);
          kernels().unary(op, single.in(), 5, cols, y.out());
          bytes.add(y);
        }
        for (const Binary op : kBinaries) {
          kernels().binary(op, a.in(), b.in(), 5, cols, y.out());
          bytes.add(y);
          kernels().binary(op, single.in(), b.in(), 5, cols, y.out());
          bytes.add(y);
          kernels().binary_row(op, false, true)(a.row(0), b.row(0), cols, y.row(0));
          bytes.add(y);
        }
      });
    }
}

const std::vector<std::size_t> kRowLengths = {1,  2,  3,  15,  16,  17,  31,   33,
                                              63, 64, 65, 100, 257, 511, 1030, 5003};

TEST(Canonical, Normalizations) {
  for (const std::size_t cols : kRowLengths) {
    const Matrix x = some_special(4, cols, 4, 5.0f);
    const Matrix gain = numbers(1, cols, 5, 1, 0), bias = numbers(1, cols, 6, 1, 0);
    expect_same_bytes([&](Bytes& bytes) {
      Matrix y(4, cols), single(4, 1);
      kernels().softmax(x.in(), 4, cols, y.out());
      bytes.add(y);
      kernels().log_softmax(x.in(), 4, cols, y.out());
      bytes.add(y);
      kernels().log_sum_exp(x.in(), 4, cols, single.out());
      bytes.add(single);
      kernels().layer_norm(x.in(), gain.row(0), bias.row(0), 1e-5f, 4, cols, y.out());
      bytes.add(y);
      kernels().rms_norm(x.in(), gain.row(0), 1e-6f, 4, cols, y.out());
      bytes.add(y);
    });
  }
}

TEST(Canonical, Attention) {
  const std::vector<std::int32_t> begin = {0, 3, 3, 4, 17};
  const Segments segments{begin.data(), begin.size() - 1};
  for (const std::size_t width : kColumnCounts)
    for (const std::size_t heads : {1, 3, 8}) {
      const std::size_t cols = width * heads;
      const Matrix q = some_special(17, cols, 7, 1), k = some_special(17, cols, 8, 1);
      const Matrix v = numbers(1, cols, 9, 1, 0);
      Matrix e = Matrix::random(17, heads, 10, 3, 0);
      e(2, 0) = -kInf;
      e(16, heads - 1) = kNaN;
      Matrix exp_q = Matrix::random(4, cols, 11), exp_k = Matrix::random(17, cols, 12, 9);
      for (Matrix* m : {&exp_q, &exp_k})
        for (std::size_t r = 0; r < m->rows(); ++r)
          for (std::size_t c = 0; c < cols; ++c) (*m)(r, c) = std::exp((*m)(r, c));
      expect_same_bytes([&](Bytes& bytes) {
        Matrix scores(17, heads, 0), mixed(4, cols);
        kernels().head_dot(q.in(), k.in(), heads, 0.125f, 17, cols, scores.out());
        bytes.add(scores);
        // Rows 2 to 16 of k are the keys of 7 rows of q, which share them.
        std::vector<std::int32_t> starts, lefts, rights;
        for (std::int32_t r = 0; r < 7; ++r) {
          starts.push_back(15 * r);
          for (std::int32_t p = 0; p < 15; ++p) {
            lefts.push_back(r);
            rights.push_back(2 + p);
          }
        }
        starts.push_back(15 * 7);
        Matrix shared(15 * 7, heads, 0);
        kernels().dot_scores(q.in(lefts, nullptr), k.in(rights, nullptr), heads, 0.125f, cols,
                             {starts.data(), 7}, shared.row(0));
        bytes.add(shared);
        kernels().add_biases(e.in(), heads, segments, scores.row(0));
        bytes.add(scores);
        kernels().factored_scores(exp_q.in(), exp_k.in(), v.row(0), cols, segments, scores.row(0));
        bytes.add(scores.row(0), 17);
        kernels().segment_softmax(e.row(0), heads, segments, scores.row(0));
        bytes.add(scores);
        kernels().mix_rows(e.row(0), heads, k.in(), cols, segments, mixed.out());
        bytes.add(mixed);
        kernels().mean_rows(k.in(), cols, segments, mixed.out());
        bytes.add(mixed);
        for (const RowReduction reduction :
             {RowReduction::sum, RowReduction::max, RowReduction::log_sum_exp}) {
          kernels().reduce_rows(reduction, k.in(), cols, segments, mixed.out());
          bytes.add(mixed);
        }
      });
    }
}

TEST(Canonical, ProductsOfValues) {
  for (const std::size_t n : kColumnCounts)
    for (const std::size_t k : {1, 7, 16, 35})
      for (const bool transposed : {false, true}) {
        constexpr std::int64_t kCount = 2, kM = 5;
        const BatchMatmulShape shape{kCount, kM, static_cast<std::int64_t>(k),
                                     static_cast<std::int64_t>(n), transposed};
        const Matrix a = some_special(3, kCount * kM * k, 21, 1);
        const Matrix b = some_special(3, kCount * k * n, 22, 1);
        expect_same_bytes([&](Bytes& bytes) {
          Matrix c(3, kCount * kM * n);
          kernels().batch_matmul(a.in(), b.in(), shape, 3, c.out());
          bytes.add(c);
        });
      }
}

TEST(Canonical, Best) {
  for (const std::size_t cols : kRowLengths) {
    const Matrix x = some_special(3, cols, 13, 1);
    for (const std::size_t k : {1, 6, 20})
      expect_same_bytes([&](Bytes& bytes) { bytes.add(k_best_of(x, k)); });
  }
}

TEST(Canonical, Quantization) {
  for (const std::size_t cols : kColumnCounts)
    for (const DType to : kQuantizedRows) {
      Matrix x = some_special(5, cols, 14, 1);
      for (std::size_t c = 0; c < cols; ++c) x(3, c) = static_cast<float>(c) * 1e-43f;
      const std::size_t elements =
          vector_bytes(to, static_cast<std::int64_t>(cols)) / sizeof(float);
      expect_same_bytes([&](Bytes& bytes) {
        Matrix y(5, elements);
        const Quantizer quantizer{.to = to, .largest = largest_of(to)};
        kernels().quantize_rows(quantizer, x.in(), 5, cols, y.out());
        bytes.add(y);
      });
    }
}

/// An output layer on quantized vectors. Its logits are all near 0, or far from one another.
struct QuantizedLayer {
  QuantizedLayer(DType dtype, std::size_t n, float size)
      : x(QuantizedVectors::random(row_type_of(dtype), kRows, kDepth, 100, 15, 2)),
        w(QuantizedVectors::random(dtype, n, kDepth, 100, 16, 0)),
        bias(Matrix::random(1, n, 17)),
        type(dtype) {
    for (std::size_t r = 0; r < kRows; ++r) x.scale(r) *= size;
    x.scale(kRows - 1) = kNaN;
    bias(0, n / 2) = -kInf;
  }

  PackedMatrix packed() const {
    return PackedMatrix::pack_quantized(type, w.data(), kDepth, w.count());
  }

  static constexpr std::size_t kRows = 9, kDepth = 21;
  QuantizedVectors x, w;
  Matrix bias;
  DType type;
};

// Around a step of the sum's lanes, of its blocks, and of all that tiles may have.
const std::vector<std::size_t> kVocabularies = {1,  5,  16,  17,   31,   63,
                                                64, 65, 130, 1023, 1025, 3001};

TEST(Canonical, OutputLayer) {
  for (const DType type : kQuantized)
    for (const float size : {1e-3f, 1.0f, 100.0f})
      for (const std::size_t n : kVocabularies) {
        const QuantizedLayer layer(type, n, size);
        expect_same_bytes([&](Bytes& bytes) {
          const PackedMatrix packed = layer.packed();
          for (const std::size_t k : {1, 6})
            for (const bool log_softmax : {false, true}) {
              Ranked best(layer.kRows, k);
              kernels().linear_k_best(layer.x.matrix().in(), layer.kRows, packed, layer.bias.row(0),
                                      log_softmax, k, best.values.data(), best.ids.data(), nullptr);
              bytes.add(best);
            }
        });
      }
}

TEST(Canonical, OutputLayerOfAnEnsemble) {
  for (const std::size_t n : kVocabularies) {
    const QuantizedLayer first(DType::qint8, n, 1), second(DType::qint16, n, 0.1f),
        third(DType::qlog4, n, 0.5f);
    expect_same_bytes([&](Bytes& bytes) {
      const PackedMatrix packed[] = {first.packed(), second.packed(), third.packed()};
      const std::vector<WeightedLayer> members = {
          {first.x.matrix().in(), &packed[0], first.bias.row(0), 0.7f},
          {second.x.matrix().in(), &packed[1], nullptr, 0.3f},
          {third.x.matrix().in(), &packed[2], third.bias.row(0), 0.2f}};
      Ranked best(first.kRows, 6);
      kernels().ensemble_k_best(members, first.kRows, 6, best.values.data(), best.ids.data());
      bytes.add(best);
    });
  }
}

TEST(Canonical, OutputLayerWithAShortlist) {
  for (const DType type : kQuantized)
    for (const std::size_t n : kVocabularies) {
      const QuantizedLayer layer(type, n, 1);
      std::vector<std::int32_t> columns;
      for (std::size_t c = 0; c < n; c += 1 + c % 3)
        columns.push_back(static_cast<std::int32_t>(c));
      expect_same_bytes([&](Bytes& bytes) {
        const MatrixColumns stored = {.data = layer.w.data(),
                                      .stride = layer.w.matrix().stride() * sizeof(float),
                                      .k = layer.kDepth,
                                      .dtype = type};
        Ranked best(layer.kRows, 6);
        const std::vector<ListedRows> lists = {{layer.kRows, columns}};
        kernels().shortlist_k_best(layer.x.matrix().in(), lists, stored, layer.bias.row(0), true, 6,
                                   best.values.data(), best.ids.data());
        bytes.add(best);
        std::vector<float> products(layer.kRows * columns.size());
        kernels().shortlist_products(layer.x.matrix().in(), lists, stored, layer.bias.row(0),
                                     products.data());
        bytes.add(products.data(), products.size());
      });
    }
}

}  // namespace
}  // namespace fuselage::cpu::canonical_test
