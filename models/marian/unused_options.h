#pragma once

#include <span>
#include <string_view>

namespace fuselage {

/// Whether marian-decoder, marian-scorer or marian-server has an option `name`, or writes it to a
/// configuration, that has no counterpart here.
bool known_to_marian(std::string_view name);

/// Whether it is one of those that describe a model, which the model's own configuration states:
/// Marian itself passes over them elsewhere.
bool decided_by_model(std::string_view name);

/// Whether it is an option of `marian` for training alone.
bool is_for_training(std::string_view name);

/// Why such an option has no counterpart; "" if that needs no reason.
std::string_view reason_against(std::string_view name);

/// An option of marian-decoder.
struct MarianOption {
  std::string_view name;   ///< long name
  char short_name = '\0';  ///< '\0': none
  bool is_flag = false;    ///< it has no value
};

/// The options of marian-decoder that Fuselage does not need: they are accepted and ignored.
std::span<const MarianOption> options_without_effect();

}  // namespace fuselage
