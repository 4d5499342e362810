// Output layers with shortlists, and the ranking of scores of shortlisted words.

#include <array>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/packed_lists.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage::cpu {
namespace {

/// Products of rows with the stored columns of their sentence's shortlist. Columns of 8- and 16-bit
/// integers are copied once a sentence (PackedLists); columns of other types, and the columns of
/// too many sentences, are read in place. Rows are divided among threads; the rows of a thread
/// share passes over the matrix.
class ShortlistProducts : public Kernel {
 public:
  ShortlistProducts(const PlannedInstruction& in, const Binding& binding)
      : ShortlistProducts(in, binding, binding.graph.value(binding.node.operands[0]).type.dims[0],
                          columns_type(binding, 1)) {}

  std::unique_ptr<BatchState> make_state() const override {
    const bool integers = columns_.dtype == DType::qint8 || columns_.dtype == DType::qint16;
    return integers ? std::make_unique<PackedLists>() : nullptr;
  }

  bool takes_more_sentences() const override { return true; }

  void begin_batch(const PlannedInstruction&, const Run& run) const override {
    static_cast<PackedLists*>(run.state)->clear();
  }

  void add_sentences(const PlannedInstruction& in, const Run& run,
                     std::span<const std::int32_t> sentences) const override {
    const auto words = run.rows.index(words_[1]);
    std::vector<PackedLists::Words> lists;
    for (const std::int32_t sentence : sentences) {
      const RowTable::Range rows = run.rows.list(shortlist_, sentence);
      lists.push_back({static_cast<std::size_t>(sentence),
                       words.subspan(static_cast<std::size_t>(rows.first),
                                     static_cast<std::size_t>(rows.count))});
    }
    static_cast<PackedLists*>(run.state)->add(columns(), bias_of(in, run), lists);
  }

 protected:
  /// Rows whose words are multiplied together: lists, the first one's first row and pair.
  struct Group {
    std::array<ListedRows, kListedRows> lists{};
    std::size_t count = 0, rows = 0, products = 0;
    std::size_t first = 0, pair = 0;

    std::span<const ListedRows> all() const { return {lists.data(), count}; }

    bool takes(std::span<const std::int32_t> words) const {
      return rows == 0 || (rows < kListedRows && products + words.size() <= kListedProducts);
    }

    /// Whether the last list has these words.
    bool ends_with(std::span<const std::int32_t> words) const {
      return count > 0 && lists[count - 1].columns.data() == words.data();
    }

    void add(std::span<const std::int32_t> words, const PackedList& packed) {
      if (ends_with(words))
        ++lists[count - 1].rows;
      else
        lists[count++] = {1, words, packed};
      ++rows;
      products += words.size();
    }
  };

  /// Calls f(group) for all rows.
  template <typename F>
  void for_groups(const Run& run, const F& f) const {
    const Segments pairs = segments_of(to_, run);
    const auto right = run.rows.index(words_[0]);
    const auto words = run.rows.index(words_[1]);
    const auto first_pair = [&](std::size_t row) {
      return static_cast<std::size_t>(pairs.begin[row]);
    };
    // The words of a row are contiguous, so the first pair and their number determine them.
    const auto words_of = [&](std::size_t row) -> std::span<const std::int32_t> {
      const std::size_t count = first_pair(row + 1) - first_pair(row);
      if (count == 0) return {};
      return words.subspan(static_cast<std::size_t>(right[first_pair(row)]), count);
    };
    const auto* lists = static_cast<const PackedLists*>(run.state);
    const auto sentences = run.rows.index(sentence_);
    const auto packed = [&](std::span<const std::int32_t> list) -> PackedList {
      if (!lists || list.empty()) return {};
      const auto first_word = static_cast<std::size_t>(list.data() - words.data());
      return lists->of(static_cast<std::size_t>(sentences[first_word]));
    };
    in_parts(run, pairs.count, work_of(pairs), [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last;) {
        Group group{.first = row, .pair = first_pair(row)};
        for (; row < last && group.takes(words_of(row)); ++row)
          group.add(words_of(row), packed(words_of(row)));
        f(group);
      }
    });
  }

  MatrixColumns columns() const {
    MatrixColumns columns = columns_;
    columns.data = matrix_->bytes();
    return columns;
  }

  static const float* bias_of(const PlannedInstruction& in, const Run& run) {
    return in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr;
  }

 private:
  ShortlistProducts(const PlannedInstruction& in, const Binding& binding, std::int64_t k,
                    DType dtype)
      : matrix_(columns_operand(in, binding, 1,
                                {.k = k,
                                 .n = matrix_columns(binding.graph, binding.node.operands[1], k),
                                 .transposed = binding.node.as<op::Transposed>().transposed})),
        columns_(
            {.stride = vector_bytes(dtype, k), .k = static_cast<std::size_t>(k), .dtype = dtype}),
        to_(binding.node.as<op::Segments>().to.front()),
        words_(binding.node.as<op::ShortlistWords>().words),
        shortlist_(binding.graph.map(words_[0]).to),
        sentence_(binding.graph.map_of(shortlist_, MapKind::structural)) {}

  /// Multiply-adds of the products of all pairs.
  std::size_t work_of(const Segments& pairs) const {
    const auto count = static_cast<std::size_t>(pairs.begin[pairs.count] - pairs.begin[0]);
    return count * columns_.k;
  }

  std::shared_ptr<const Tensor> matrix_;  ///< transposed: a row per column
  MatrixColumns columns_;                 ///< without data
  MapId to_;
  MapPath words_;  ///< from pairs through shortlists to words
  DomainId shortlist_;
  MapId sentence_;  ///< from shortlists
};

class ShortlistOutput final : public ShortlistProducts {
 public:
  ShortlistOutput(const PlannedInstruction& in, const Binding& binding)
      : ShortlistProducts(in, binding), log_softmax_(binding.node.as<op::Scores>().log_softmax) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = rows_in(in, run, 0);
    const std::size_t k = cols_of(in);
    for_groups(run, [&](const Group& group) {
      run.kernels.shortlist_k_best(rows_from(x, group.first), group.all(), columns(),
                                   bias_of(in, run), log_softmax_, k,
                                   result_at(in, run, 0) + group.first * k,
                                   result_at<std::int32_t>(in, run, 1) + group.first * k);
    });
  }

 private:
  bool log_softmax_;
};

class SampledProduct final : public ShortlistProducts {
 public:
  using ShortlistProducts::ShortlistProducts;

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = all_rows(in, run, 0);
    for_groups(run, [&](const Group& group) {
      run.kernels.shortlist_products(rows_from(x, group.first), group.all(), columns(),
                                     bias_of(in, run), result_at(in, run, 0) + group.pair);
    });
  }
};

/// Scores of pairs, adjacent for each row that they belong to.
class RowsOfPairs : public Kernel {
 public:
  RowsOfPairs(const PlannedInstruction&, const Binding& binding)
      : to_(binding.node.as<op::Segments>().to.front()) {}

 protected:
  /// Calls f(row, its first pair, its number of pairs) for all rows.
  template <typename F>
  void for_rows(const Run& run, const F& f) const {
    const Segments pairs = segments_of(to_, run);
    const auto count = static_cast<std::size_t>(pairs.begin[pairs.count] - pairs.begin[0]);
    in_parts(run, pairs.count, count, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row)
        f(row, static_cast<std::size_t>(pairs.begin[row]),
          static_cast<std::size_t>(pairs.begin[row + 1] - pairs.begin[row]));
    });
  }

 private:
  MapId to_;
};

class SelectElements final : public Kernel {
 public:
  SelectElements(const PlannedInstruction&, const Binding& binding)
      : paths_(binding.node.as<op::SelectElements>()) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = all_rows(in, run, 0);
    const std::int64_t first = first_row(run, in.domain);
    const RowsOut out = rows_out(in, run);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      const std::int64_t at = first + static_cast<std::int64_t>(r);
      const std::int64_t row = follow(paths_.row, run, at);
      const std::int64_t element = follow(paths_.element, run, at);
      const bool mapped = row >= 0 && element >= 0;
      out.data[r * out.stride] =
          mapped
              ? x.data[static_cast<std::size_t>(row) * x.stride + static_cast<std::size_t>(element)]
              : 0.0f;
    }
  }

 private:
  op::SelectElements paths_;
};

class SegmentLogSoftmax final : public RowsOfPairs {
 public:
  using RowsOfPairs::RowsOfPairs;

  void run(const PlannedInstruction& in, const Run& run) const override {
    const float* x = plain_in<const float>(in, run, 0);
    float* out = result_at(in, run);
    for_rows(run, [&](std::size_t, std::size_t first, std::size_t count) {
      run.kernels.shortlist_log_softmax({x + first, count}, out + first);
    });
  }
};

class SegmentKBest final : public RowsOfPairs {
 public:
  SegmentKBest(const PlannedInstruction& in, const Binding& binding)
      : RowsOfPairs(in, binding), words_(binding.node.as<op::ShortlistWords>().words) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto* x = data_at<const float>(in.operands[0], run, 0);
    const auto right = run.rows.index(words_[0]);
    const auto words = run.rows.index(words_[1]);
    const std::size_t k = cols_of(in);
    for_rows(run, [&](std::size_t row, std::size_t first, std::size_t count) {
      std::int32_t* ids = result_at<std::int32_t>(in, run, 1) + row * k;
      run.kernels.k_best({.data = x + first, .stride = count, .columns = count}, 1, count, k,
                         result_at(in, run, 0) + row * k, ids);
      for (std::size_t i = 0; i < k; ++i)
        if (ids[i] >= 0)
          ids[i] = words[static_cast<std::size_t>(right[first + static_cast<std::size_t>(ids[i])])];
    });
  }

 private:
  MapPath words_;
};

std::string refuse_words(const Graph& graph, const Node& node) {
  const MapPath words = node.as<op::ShortlistWords>().words;
  if (words.size() == 2 && graph.map(words[0]).kind == MapKind::right) return "";
  return "its words are not those of the right members of its pairs";
}

std::string refuse_several_numbers(const Graph& graph, const Node& node) {
  return row_size(graph.value(node.operands[0]).type) == 1 ? "" : "a pair has several numbers";
}

}  // namespace

std::span<const KernelEntry> shortlist_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::ShortlistKBest::kName,
        .name = "shortlist_output_layer",
        .reads = {view},
        .refuse = refuse_shortlist},
       make_kernel<ShortlistOutput>},
      {{.op = op::SampledMatmul::kName,
        .name = "sampled_product",
        .reads = {slice},
        .refuse = refuse_shortlist},
       make_kernel<SampledProduct>},
      {{.op = op::SelectElements::kName, .name = "select_elements", .reads = {slice}},
       make_kernel<SelectElements>},
      {{.op = op::SegmentLogSoftmax::kName,
        .name = "segment_log_softmax",
        .refuse = refuse_several_numbers},
       make_kernel<SegmentLogSoftmax>},
      {{.op = op::SegmentKBest::kName, .name = "segment_k_best", .refuse = refuse_words},
       make_kernel<SegmentKBest>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
