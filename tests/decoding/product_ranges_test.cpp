#include "decoding/product_ranges.h"

#include <gtest/gtest.h>

#include "fuselage/models/load_model.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

std::vector<ProductRange> measure(const Model& model, const std::vector<std::string>& lines) {
  return measure_products(model, {.paths = support::vocabularies()}, lines);
}

class ProductRanges : public ::testing::TestWithParam<std::string> {
 protected:
  Model model_ = load_model(std::string(FUSELAGE_TEST_DATA) + "/" + GetParam() + "/model.npz");
  std::vector<std::string> lines_ = {"▁the ▁c at", "▁yes"};
};

TEST_P(ProductRanges, KnowEachProduct) {
  std::size_t products = 0;
  for (const NodeId id : model_.graph.nodes())
    products += model_.graph.node(id).op->name == "matmul";
  const std::vector<ProductRange> ranges = measure(model_, lines_);
  EXPECT_EQ(ranges.size(), products);
  for (const ProductRange& range : ranges) {
    EXPECT_FALSE(range.product.empty());
    EXPECT_GT(range.numbers, 0) << range.product;
    EXPECT_LE(range.least, range.most) << range.product;
    EXPECT_LE(range.outside, range.numbers) << range.product;
    if (range.least < 0 || range.most > kLargestActivation)
      EXPECT_GT(range.outside, 0) << range.product;
    else
      EXPECT_EQ(range.outside, 0) << range.product;
  }
}

TEST_P(ProductRanges, GrowWithTheText) {
  const std::vector<ProductRange> some = measure(model_, {lines_[0]});
  const std::vector<ProductRange> all = measure(model_, lines_);
  ASSERT_EQ(some.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_LE(all[i].least, some[i].least);
    EXPECT_GE(all[i].most, some[i].most);
    EXPECT_GT(all[i].numbers, some[i].numbers);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ProductRanges, ::testing::Values("nematus", "transformer-post"),
                         [](const auto& test) { return test.param.substr(0, 7); });

TEST(ProductRanges, SeeWhatAReluLeaves) {
  const Model model = load_model(std::string(FUSELAGE_TEST_DATA) + "/transformer-post/model.npz");
  std::size_t behind_relu = 0;
  for (const ProductRange& range : measure(model, {"▁the ▁c at"})) {
    if (range.rows.find("relu") == std::string::npos) continue;
    ++behind_relu;
    EXPECT_EQ(range.least, 0) << range.rows;
    EXPECT_GT(range.most, 0) << range.rows;
  }
  EXPECT_GT(behind_relu, 0u);
}

}  // namespace
}  // namespace fuselage
