#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage {

/// A hash of 128 bits of all that was added, by which equal contents are known again. It resists
/// accidents, not attacks. Each piece counts with its length, so ("ab", "c") is not ("a", "bc").
class ContentHash {
 public:
  void add(const void* bytes, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(std::uint64_t number) { add(&number, sizeof number); }

  /// Of what has been added up to now.
  std::array<std::uint64_t, 2> words() const;
  /// The same as 32 hexadecimal digits.
  std::string text() const;

 private:
  void mix(std::size_t lane, std::uint64_t word);

  std::array<std::uint64_t, 4> lanes_{1, 2, 3, 4};
};

}  // namespace fuselage
