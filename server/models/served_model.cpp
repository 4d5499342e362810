#include "server/models/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace fuselage {

std::size_t ServedModel::n_best() const {
  const TranslatorOptions& options = translator().options();
  return static_cast<std::size_t>(options.n_best > 0 ? options.n_best : *options.beam_size);
}

LineGuide ServedModel::guide(std::size_t n_best, std::string prefix) const {
  if (!has_guides()) return {};
  return {.prefix = std::move(prefix),
          .n_best = static_cast<std::int32_t>(std::min(n_best, this->n_best()))};
}

ModelSet::ModelSet(std::vector<OpenedModel> opened, const QueueOptions& queue) {
  if (opened.empty()) throw Error("there is no model to serve");
  for (OpenedModel& model : opened) {
    if (find(model.languages.source, model.languages.target) != nullptr)
      throw Error(
          fmt::format("two models translate {}; serve one of them", to_string(model.languages)));
    models_.push_back(std::make_unique<ServedModel>(std::move(model), queue));
  }
}

const ServedModel* ModelSet::find(const std::string& source, const std::string& target) const {
  const auto found = std::ranges::find_if(models_, [&](const auto& model) {
    return model->languages() == LanguagePair{source, target};
  });
  return found == models_.end() ? nullptr : found->get();
}

ModelRoute ModelSet::route(const std::string& source, const std::string& target) const {
  if (const ServedModel* const direct = find(source, target)) return {direct, nullptr};
  if (source == target) return {};
  std::vector<std::string> pivots = languages();
  std::stable_partition(pivots.begin(), pivots.end(),
                        [](const std::string& code) { return code == "en"; });
  for (const std::string& pivot : pivots) {
    const ModelRoute found{find(source, pivot), find(pivot, target)};
    if (found.first != nullptr && found.second != nullptr) return found;
  }
  return {};
}

bool ModelSet::has_source(const std::string& code) const { return !targets_of(code).empty(); }

bool ModelSet::has_target(const std::string& code) const {
  return std::ranges::any_of(models_,
                             [&](const auto& model) { return model->languages().target == code; });
}

std::vector<std::string> ModelSet::languages() const {
  std::set<std::string> codes;
  for (const auto& model : models_) {
    codes.insert(model->languages().source);
    codes.insert(model->languages().target);
  }
  return {codes.begin(), codes.end()};
}

std::vector<std::string> ModelSet::targets_of(const std::string& source) const {
  std::vector<std::string> targets = languages();
  std::erase_if(targets,
                [&](const std::string& target) { return route(source, target).first == nullptr; });
  return targets;
}

}  // namespace fuselage
