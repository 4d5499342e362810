#include "models/decode_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

template <typename T>
using MemberOf = std::optional<T> DecodeDefaults::*;
using Member = std::variant<MemberOf<std::int32_t>, MemberOf<std::size_t>, MemberOf<float>,
                            MemberOf<bool>, MemberOf<MaxiBatchSort>, MemberOf<Precision>,
                            MemberOf<Activations>, MemberOf<KvCache>, MemberOf<EarlyStopping>>;

struct Entry {
  std::string_view key;
  Member member;
  NumberRange range;  ///< of numbers
};

using Defaults = DecodeDefaults;
constexpr std::array<Entry, 21> kEntries{{
    {"activations", &Defaults::activations, {}},
    {"allow-unk", &Defaults::allow_unk, {}},
    {"beam-size", &Defaults::beam_size, {1, 1024}},
    {"early-stopping", &Defaults::early_stopping, {}},
    {"forced-end", &Defaults::forced_end, {}},
    {"keep-beam", &Defaults::keep_beam, {}},
    {"kv-cache", &Defaults::kv_cache, {}},
    {"max-length", &Defaults::max_length, {1, 1000000}},
    {"max-length-factor", &Defaults::max_length_factor, {0, 1000, false, true}},
    {"max-words", &Defaults::max_words, {0, 65536}},
    {"maxi-batch", &Defaults::maxi_batch, {1, 1000000}},
    {"maxi-batch-sort", &Defaults::maxi_batch_sort, {}},
    {"min-length", &Defaults::min_length, {0, 1048576}},
    {"mini-batch", &Defaults::mini_batch, {1, 65536}},
    {"mini-batch-words", &Defaults::mini_batch_words, {0, 1000000000}},
    {"no-repeat-ngram-size", &Defaults::no_repeat_ngram_size, {0, 1000}},
    {"normalize", &Defaults::normalize, {-10, 10, false}},
    {"precision", &Defaults::precision, {}},
    {"renormalize", &Defaults::renormalize, {}},
    {"repetition-penalty", &Defaults::repetition_penalty, {0, 1000, false, true}},
    {"word-penalty", &Defaults::word_penalty, {-1000000, 1000000, false}},
}};

constexpr auto kKeys = [] {
  std::array<std::string_view, kEntries.size()> keys;
  std::transform(kEntries.begin(), kEntries.end(), keys.begin(),
                 [](const Entry& entry) { return entry.key; });
  return keys;
}();
static_assert(std::is_sorted(kKeys.begin(), kKeys.end()));

constexpr std::array<std::string_view, 2> kTruths{"false", "true"};
constexpr std::array<std::string_view, 2> kSortOrders{"none", "src"};
constexpr std::array<std::string_view, 3> kEarlyStopping{"never", "heuristic", "first"};
/// marian-decoder's name of fp32.
constexpr std::string_view kMarianFp32 = "float32";

const Entry* find_entry(std::string_view key) {
  const auto* found = std::find(kKeys.begin(), kKeys.end(), key);
  return found == kKeys.end() ? nullptr
                              : &kEntries.at(static_cast<std::size_t>(found - kKeys.begin()));
}

const Entry& entry_of(std::string_view key) {
  const Entry* entry = find_entry(key);
  check(entry != nullptr, "the key of a decoding default");
  return *entry;
}

/// The names of an enumeration's values, in order.
template <typename T>
std::span<const std::string_view> names_of() {
  if constexpr (std::is_same_v<T, bool>) return kTruths;
  if constexpr (std::is_same_v<T, MaxiBatchSort>) return kSortOrders;
  if constexpr (std::is_same_v<T, EarlyStopping>) return kEarlyStopping;
  if constexpr (std::is_same_v<T, Precision>) return precision_names();
  if constexpr (std::is_same_v<T, Activations>) return activations_names();
  if constexpr (std::is_same_v<T, KvCache>) return kv_cache_names();
}

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <typename T>
T parse(const Entry& entry, std::string_view text, const std::string& where) {
  const auto refuse = [&](const std::string& needed) {
    throw Error(
        fmt::format("{}: '{}' must be {}, not {}", where, entry.key, needed, in_quotes(text)));
  };
  if constexpr (kIsNumber<T>) {
    const std::optional<double> number = parse_number_in(entry.range, text);
    const T value = static_cast<T>(number.value_or(0));
    // A tiny number may be 0 as a float.
    if (!number || !entry.range.contains(static_cast<double>(value)))
      refuse(entry.range.description());
    return value;
  } else {
    if constexpr (std::is_same_v<T, bool>)
      if (const std::optional<bool> truth = parse_truth(text)) return *truth;
    if (std::is_same_v<T, Precision> && text == kMarianFp32) text = to_string(Precision::fp32);
    const auto names = names_of<T>();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) refuse(fmt::format("one of {}", fmt::join(names, ", ")));
    return static_cast<T>(found - names.begin());
  }
}

template <typename T>
std::string print(T value) {
  if constexpr (kIsNumber<T>)
    return fmt::format("{}", value);
  else
    return std::string(names_of<T>()[static_cast<std::size_t>(value)]);
}

/// The type of the value that `member` may have.
template <typename T>
T value_type(MemberOf<T> member);

}  // namespace

std::span<const std::string_view> decode_keys() { return kKeys; }

const NumberRange& decode_range(std::string_view key) { return entry_of(key).range; }

void set_decode_default(DecodeDefaults& defaults, std::string_view key, const std::string& text,
                        const std::string& where) {
  const Entry* entry = find_entry(key);
  if (entry == nullptr)
    throw Error(
        fmt::format("{}: unknown key {}{}", where, in_quotes(key), did_you_mean(key, kKeys)));
  std::visit(
      [&](auto member) {
        defaults.*member = parse<decltype(value_type(member))>(*entry, text, where);
      },
      entry->member);
}

std::optional<std::string> decode_text(const DecodeDefaults& defaults, std::string_view key) {
  return std::visit(
      [&](auto member) -> std::optional<std::string> {
        if (!(defaults.*member)) return std::nullopt;
        return print(*(defaults.*member));
      },
      entry_of(key).member);
}

void clear_decode_default(DecodeDefaults& defaults, std::string_view key) {
  std::visit([&](auto member) { (defaults.*member).reset(); }, entry_of(key).member);
}

std::vector<std::string_view> add_decode_defaults(DecodeDefaults& defaults,
                                                  const DecodeDefaults& others) {
  std::vector<std::string_view> differing;
  for (const Entry& entry : kEntries)
    std::visit(
        [&](auto member) {
          if (!(defaults.*member))
            defaults.*member = others.*member;
          else if (others.*member && defaults.*member != others.*member)
            differing.push_back(entry.key);
        },
        entry.member);
  return differing;
}

void verify(const DecodeDefaults& defaults) {
  for (const Entry& entry : kEntries)
    std::visit(
        [&](auto member) {
          if constexpr (kIsNumber<decltype(value_type(member))>) {
            const auto& value = defaults.*member;
            if (value && !entry.range.contains(static_cast<double>(*value)))
              throw Error(fmt::format("{} must be {}, not {}", entry.key, entry.range.description(),
                                      *value));
          }
        },
        entry.member);
}

}  // namespace fuselage
