#include "backends/cpu/simd/rows/lookup.h"

#include <numeric>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

class LookupTest : public KernelTest {};

constexpr std::size_t kEntries = 60;
constexpr std::size_t kTableRows = 20;

/// The products of all entries, and a table of some of them.
struct Products {
  explicit Products(std::size_t k, std::size_t n)
      : embeddings(Matrix::random(kEntries, k, 1)), weight(Matrix::random(k, n, 2)) {}

  PackedMatrix packed() const {
    return PackedMatrix::pack(weight.row(0), weight.rows(), weight.cols(), weight.stride(), false);
  }

  /// Rows of the table in order of `rank`, without gaps.
  std::vector<float> table(const std::vector<std::int32_t>& rank) const {
    std::vector<std::int32_t> entry(kTableRows);
    for (std::size_t e = 0; e < kEntries; ++e)
      if (rank[e] < static_cast<std::int32_t>(kTableRows))
        entry[static_cast<std::size_t>(rank[e])] = static_cast<std::int32_t>(e);
    std::vector<float> rows(kTableRows * weight.cols());
    kernels().gemm(embeddings.in(entry, nullptr), kTableRows, packed(),
                   {rows.data(), weight.cols()});
    return rows;
  }

  Matrix embeddings, weight;
};

std::vector<std::int32_t> by_id() {
  std::vector<std::int32_t> rank(kEntries);
  std::iota(rank.begin(), rank.end(), 0);
  return rank;
}

/// Multiplying by what has no common factor with their number reorders the entries.
std::vector<std::int32_t> reordered() {
  std::vector<std::int32_t> rank = by_id();
  for (std::int32_t& r : rank) r = r * 7 % static_cast<std::int32_t>(kEntries);
  return rank;
}

/// Checks the bits against a product of all rows, and the counts.
void expect_products(const Products& p, const std::vector<std::int32_t>& rank, bool with_ranks,
                     const std::vector<std::int32_t>& words) {
  const std::size_t n = p.weight.cols();
  const PackedMatrix packed = p.packed();
  Matrix expected = Matrix::result(words.size(), n), out = Matrix::result(words.size(), n);
  kernels().gemm(p.embeddings.in(words, nullptr), words.size(), packed, expected.out());
  const std::vector<float> table = p.table(rank);
  const LookupCount count =
      lookup_products(kernels(), p.embeddings.in(words, nullptr), words.size(), packed,
                      {table.data(), kTableRows, with_ranks ? rank.data() : nullptr}, out.out());
  std::size_t lookups = 0, hits = 0;
  for (std::size_t r = 0; r < words.size(); ++r) {
    ASSERT_TRUE(same_bits(out.row(r), expected.row(r), n)) << "row " << r << " of " << words.size();
    if (words[r] < 0) continue;
    ++lookups;
    hits += rank[static_cast<std::size_t>(words[r])] < static_cast<std::int32_t>(kTableRows);
  }
  EXPECT_EQ(count.lookups, lookups);
  EXPECT_EQ(count.hits, hits);
  EXPECT_TRUE(out.guards_intact());
}

TEST_P(LookupTest, GivesTheBitsOfTheProduct) {
  std::mt19937 random(3);
  for (const std::size_t n : {2, 17, 64, 100}) {
    const Products p(33, n);
    for (const std::size_t rows : {0, 1, 2, 7, 50, 191, 192, 193, 500}) {
      std::vector<std::int32_t> words(rows);
      // -1: no word yet.
      for (std::int32_t& word : words) word = static_cast<std::int32_t>(random() % 61) - 1;
      expect_products(p, by_id(), false, words);
      expect_products(p, reordered(), true, words);
    }
  }
}

TEST_P(LookupTest, AllRowsOrNoneInTheTable) {
  const Products p(16, 40);
  for (const std::int32_t word : {-1, 0, 59}) {
    expect_products(p, by_id(), false, std::vector<std::int32_t>(9, word));
    expect_products(p, reordered(), true, std::vector<std::int32_t>(9, word));
  }
}

TEST_P(LookupTest, RanksOutOfRangeAreInNoTable) {
  const Products p(8, 20);
  std::vector<std::int32_t> rank(kEntries, -1);
  rank[3] = 2000000000;
  const std::vector<std::int32_t> words = {3, 4, -1};
  const PackedMatrix packed = p.packed();
  const std::vector<float> table(kTableRows * 20, kNaN);
  Matrix expected = Matrix::result(3, 20), out = Matrix::result(3, 20);
  kernels().gemm(p.embeddings.in(words, nullptr), 3, packed, expected.out());
  const LookupCount count = lookup_products(kernels(), p.embeddings.in(words, nullptr), 3, packed,
                                            {table.data(), kTableRows, rank.data()}, out.out());
  EXPECT_EQ(count.hits, 0u);
  for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(same_bits(out.row(r), expected.row(r), 20));
}

FUSELAGE_TEST_EVERY_LEVEL(LookupTest);

}  // namespace
}  // namespace fuselage::cpu
