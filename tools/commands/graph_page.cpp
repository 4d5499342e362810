#include "tools/commands/graph_page.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "fuselage/inspect/page.h"

namespace fuselage {
namespace {

/// A page has up to some megabytes, and anyone may ask for it.
constexpr std::chrono::seconds kPageAge{5};

class GraphPage {
 public:
  GraphPage(const Translator& translator, std::string name)
      : graph_(translator.graph()), compile_(translator.options().compile) {
    report_.model = std::move(name);
  }

  std::string text() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (made_ && now - *made_ < kPageAge) return page_;
    if (graph_) begin();
    if (compile_.shared_profile) {
      Profile profile = compile_.shared_profile->times();
      if (profile.batches > 0) report_.profile = std::move(profile);
    }
    page_ = print_page(report_);
    made_ = now;
    return page_;
  }

 private:
  /// The optimizer runs again, since the translator keeps no stages.
  void begin() {
    report_.backend = &find_backend(compile_.backend);
    report_.workload = compile_.workload;
    report_.history = trace(*graph_, make_optimizer(compile_));
    graph_.reset();
    report_.stages.resize(report_.history.stages.size());
    std::iota(report_.stages.begin(), report_.stages.end(), std::size_t{0});
    report_.plan = plan_programs(report_.history.programs, *report_.backend);
    report_.summary = summarize(report_.history, report_.workload);
    report_.summary->before = figures_of(split_by_binding_time(report_.history.raw()));
    report_.summary->after = figures_of(report_.history.programs);
    report_.summary->reference_nodes = find_reference_nodes(report_.history, report_.plan);
  }

  Figures figures_of(const Programs& programs) const {
    return measure(programs, plan_programs(programs, *report_.backend), report_.workload);
  }

  std::mutex mutex_;
  std::optional<Graph> graph_;  ///< until the report has its stages
  CompileOptions compile_;
  Report report_;
  std::string page_;
  std::optional<std::chrono::steady_clock::time_point> made_;
};

}  // namespace

std::function<std::string()> graph_page_of(const Translator& translator, std::string name) {
  return [page = std::make_shared<GraphPage>(translator, std::move(name))] { return page->text(); };
}

}  // namespace fuselage
