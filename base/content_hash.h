#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace fuselage {

/// A hash of 128 bits (XXH3) of all pieces that were added, by which equal contents are known
/// again. It resists accidents, not attacks. Each piece counts with its length, so ("ab", "c") is
/// not ("a", "bc").
class ContentHash {
 public:
  ContentHash();

  void add(const void* bytes, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(std::uint64_t number) { add(&number, sizeof number); }

  /// The hash of all pieces up to now.
  std::array<std::uint64_t, 2> words() const;
  /// The same as 32 hexadecimal digits.
  std::string text() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace fuselage
