#include "tools/commands/graphs/graph_page.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "fuselage/inspect/page.h"

namespace fuselage {
namespace {

/// A page has up to some megabytes, and anyone may ask for it.
constexpr std::chrono::seconds kPageAge{5};

/// A text as it is in a string of the page's JSON, which is in a script.
std::string in_page(const std::string& text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (const char c : quoted.substr(1, quoted.size() - 2))
    c == '<' ? result.append("\\u003c") : result.append(1, c);
  return result;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

class GraphPage {
 public:
  GraphPage(const Translator& translator, std::string name)
      : graph_(translator.graph()), compile_(translator.options().compile) {
    report_.model = std::move(name);
    for (const NodeId node : graph_->nodes()) files_.insert(graph_->node(node).location.file);
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
    // The places of nodes name the files that the graph was read from, with their folders.
    for (const std::string& file : files_)
      if (file.find('/') != std::string::npos)
        replace_all(page_, in_page(file), in_page(std::filesystem::path(file).filename().string()));
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
  std::set<std::string> files_;  ///< of the places of nodes
  Report report_;
  std::string page_;
  std::optional<std::chrono::steady_clock::time_point> made_;
};

}  // namespace

std::function<std::string()> graph_page_of(const Translator& translator, std::string name) {
  return [page = std::make_shared<GraphPage>(translator, std::move(name))] { return page->text(); };
}

}  // namespace fuselage
