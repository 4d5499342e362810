#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/number_range.h"
#include "fuselage/models/decode_defaults.h"

namespace fuselage {

// The members of DecodeDefaults by key: the long name of marian-decoder's option, such as
// "beam-size". Configurations of all formats and options of the command have these keys.

/// The keys of all members, sorted.
std::span<const std::string_view> decode_keys();

/// The allowed values of a numeric member.
const NumberRange& decode_range(std::string_view key);

/// Sets the member of `key` to the value in `text`. Throws Error, which begins with `where`, for an
/// unknown key, and for a value of another type or out of range.
void set_decode_default(DecodeDefaults& defaults, std::string_view key, const std::string& text,
                        const std::string& where);

/// The value of a member as text, which set_decode_default reads; nullopt if it is unset.
std::optional<std::string> decode_text(const DecodeDefaults& defaults, std::string_view key);

/// Unsets the member of `key`.
void clear_decode_default(DecodeDefaults& defaults, std::string_view key);

/// Sets the members that are unset to their values in `others`. Returns the keys for which both
/// state values that differ.
std::vector<std::string_view> add_decode_defaults(DecodeDefaults& defaults,
                                                  const DecodeDefaults& others);

/// Throws Error, with the key and the allowed values, for a number out of range.
void verify(const DecodeDefaults& defaults);

}  // namespace fuselage
