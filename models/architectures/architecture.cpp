#include "fuselage/models/architectures/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <mutex>
#include <utility>

#include "base/registrant.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/bart.h"
#include "models/architectures/ctranslate2.h"
#include "models/architectures/encoder_decoder.h"
#include "models/architectures/rnn_stack.h"
#include "models/architectures/scores.h"
#include "models/architectures/t5.h"

namespace fuselage {
namespace {

/// An architecture of Marian, whose options are checked as a whole.
ArchitectureDef of_marian(const MarianType& type) {
  return {.name = type.name,
          .summary = type.summary,
          .build = [name = type.name](Parameters& parameters, const ModelOptions& options) {
            MarianOptions marian =
                parse_marian_options(options.yaml(), options.where(), options.ignore_unknown());
            marian.type = name;
            build_encoder_decoder(parameters, marian);
          }};
}

struct Architectures {
  Architectures() {
    for (const MarianType& type : marian_types()) all.push_back(of_marian(type));
    add_classes(bart_classes(), build_bart);
    add_classes(t5_classes(), build_t5);
    all.push_back({.name = "rnn-stack",
                   .summary =
                       "Recurrent encoder, and a decoder whose layers are listed: the models "
                       "of Devlin, of Quinn and Ballesteros, and of Amun.",
                   .build = build_rnn_stack});
    all.push_back({.name = "ctranslate2-transformer",
                   .summary = "Transformer with the variants of CTranslate2's models.",
                   .build = build_ctranslate2_transformer});
  }

  /// Classes of Hugging Face's Transformers, which live as long as the program.
  template <typename Class>
  void add_classes(std::span<const Class> classes,
                   void (*build)(Parameters&, const ModelOptions&, const Class&)) {
    for (const Class& kind : classes)
      all.push_back({.name = kind.name,
                     .summary = kind.summary,
                     .build = [build, &kind](Parameters& parameters, const ModelOptions& options) {
                       build(parameters, options, kind);
                     }});
  }

  const ArchitectureDef* find(std::string_view name) const {
    for (const ArchitectureDef& architecture : all)
      if (architecture.name == name) return &architecture;
    return nullptr;
  }

  std::mutex mutex;
  std::deque<ArchitectureDef> all;  ///< a deque, so that references stay valid
};

Architectures& architectures() {
  static Architectures registry;
  return registry;
}

}  // namespace

void register_architecture(ArchitectureDef architecture) {
  if (architecture.name.empty() || architecture.summary.empty() || !architecture.build)
    throw Error(fmt::format("architecture '{}' lacks {}", architecture.name,
                            architecture.name.empty()      ? "a name"
                            : architecture.summary.empty() ? "a summary"
                                                           : "the function that builds it"));
  Architectures& registry = architectures();
  const std::lock_guard lock(registry.mutex);
  if (registry.find(architecture.name))
    throw Error(fmt::format("there is an architecture '{}' already; choose another name",
                            architecture.name));
  architecture.registered_by = current_registrant();
  registry.all.push_back(std::move(architecture));
}

std::vector<std::string> architecture_names() {
  Architectures& registry = architectures();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const ArchitectureDef& architecture : registry.all) names.push_back(architecture.name);
  return names;
}

const ArchitectureDef& find_architecture(std::string_view name) {
  {
    Architectures& registry = architectures();
    const std::lock_guard lock(registry.mutex);
    if (const ArchitectureDef* found = registry.find(name)) return *found;
  }
  if (const std::string_view reason = why_not_supported(name); !reason.empty())
    throw Error(fmt::format("type {} is not supported: {}", in_quotes(name), reason));
  const std::vector<std::string> names = architecture_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string suggestion = did_you_mean(name, known);
  throw Error(fmt::format("type {} is not supported{} can be {}", in_quotes(name),
                          suggestion.empty() ? "; it" : suggestion + " It",
                          fmt::join(names, ", ")));
}

namespace {

/// Options and weights that do not fit are Errors; other exceptions are faults of the architecture.
void call_architecture(const ArchitectureDef& architecture, Parameters& parameters,
                       const ModelOptions& options) {
  try {
    architecture.build(parameters, options);
  } catch (...) {
    rethrow_for(architecture.registered_by,
                fmt::format("architecture {}", in_quotes(architecture.name)),
                RegistrantFaults::all_but_errors);
  }
}

Model build(std::string_view architecture, const ModelOptions& options, Builder& builder,
            Parameters& parameters) {
  Model model;
  try {
    call_architecture(find_architecture(architecture), parameters, options);
    options.expect_all_read();
    model.weights = parameters.take();
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    // The errors of options begin with their place.
    if (std::string_view(error.what()).starts_with(options.where() + ":")) throw;
    throw LocatedError(fmt::format("{}: {}", options.where(), error.what()));
  }
  model.graph = builder.take();
  scores_of(model.graph);
  return model;
}

}  // namespace

Model build_model(std::string_view architecture, const ModelOptions& options,
                  const TensorMap& weights, const std::string& name) {
  Builder builder(name);
  Parameters parameters(builder, weights, options.where());
  return build(architecture, options, builder, parameters);
}

Model build_random_model(std::string_view architecture, const ModelOptions& options,
                         std::uint64_t seed, const std::string& name) {
  Builder builder(name);
  Parameters parameters(builder, seed, options.where());
  return build(architecture, options, builder, parameters);
}

}  // namespace fuselage
