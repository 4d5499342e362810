#include "models/huggingface/generation_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "models/directory/json_object.h"

namespace fuselage {
namespace {

/// A text or a number in the form of decode_keys().
std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

EarlyStopping early_stopping(const HuggingFaceConfig& config) {
  const nlohmann::json value = config.setting("early_stopping");
  if (value.is_null() || value == false) return EarlyStopping::heuristic;
  if (value == true) return EarlyStopping::first;
  if (value == "never") return EarlyStopping::never;
  throw Error(fmt::format("{}: 'early_stopping' must be true, false or \"never\", not {}",
                          config.directory, shown(value)));
}

/// Words after the first one of the decoder, the end symbol included.
std::int64_t most_words(const HuggingFaceConfig& config) {
  std::int64_t words = 0;
  if (const auto length = config.integer("max_length")) words = *length - 1;
  if (const auto added = config.integer("max_new_tokens")) words = *added;
  const std::int64_t positions = config.integer("max_position_embeddings").value_or(0);
  if (positions > 1) words = words > 0 ? std::min(words, positions - 1) : positions - 1;
  return words;
}

std::int64_t least_words(const HuggingFaceConfig& config) {
  const std::int64_t by_length = config.integer("min_length").value_or(0) - 1;
  return std::max({by_length, config.integer("min_new_tokens").value_or(0), std::int64_t{0}});
}

/// Sets a member to a number of words, or to the most that it can be, which no search reaches.
void set_words(DecodeDefaults& settings, std::string_view key, std::int64_t words,
               const HuggingFaceConfig& config) {
  if (words <= 0) return;
  const auto most = static_cast<std::int64_t>(decode_range(key).most);
  set_decode_default(settings, key, std::to_string(std::min(words, most)), config.directory);
}

void note_ignored(const HuggingFaceConfig& config, std::vector<std::string>& notes) {
  constexpr std::array<std::pair<const char*, std::string_view>, 11> kIgnored = {{
      {"begin_suppress_tokens", "null"},
      {"do_sample", "false"},
      {"diversity_penalty", "0.0"},
      {"encoder_no_repeat_ngram_size", "0"},
      {"encoder_repetition_penalty", "1.0"},
      {"exponential_decay_length_penalty", "null"},
      {"guidance_scale", "1.0"},
      {"num_beam_groups", "1"},
      {"penalty_alpha", "null"},
      {"sequence_bias", "null"},
      {"stop_strings", "null"},
  }};
  for (const auto& [key, without] : kIgnored)
    if (const nlohmann::json value = config.setting(key);
        !value.is_null() && value.dump() != without)
      notes.push_back(fmt::format("{} states {} = {}, which is passed over", config.directory, key,
                                  shown(value)));
}

}  // namespace

DecodeDefaults generation_settings(const HuggingFaceConfig& config,
                                   std::vector<std::string>& notes) {
  DecodeDefaults settings{.beam_size = 1,
                          .normalize = 1.0f,
                          .allow_unk = true,
                          .keep_beam = true,
                          .early_stopping = early_stopping(config)};
  constexpr std::array<std::pair<const char*, const char*>, 4> kKeys = {{
      {"num_beams", "beam-size"},
      {"length_penalty", "normalize"},
      {"no_repeat_ngram_size", "no-repeat-ngram-size"},
      {"repetition_penalty", "repetition-penalty"},
  }};
  for (const auto& [theirs, ours] : kKeys)
    if (const nlohmann::json value = config.setting(theirs); !value.is_null())
      set_decode_default(settings, ours, text_of(value),
                         fmt::format("{}: {}", config.directory, theirs));
  set_words(settings, "max-words", most_words(config), config);
  set_words(settings, "min-length", least_words(config), config);
  set_words(settings, "max-length", config.integer("max_position_embeddings").value_or(0), config);
  if (!config.setting("forced_eos_token_id").is_null()) settings.forced_end = true;
  if (config.flag("renormalize_logits").value_or(false)) settings.renormalize = true;
  note_ignored(config, notes);
  return settings;
}

}  // namespace fuselage
