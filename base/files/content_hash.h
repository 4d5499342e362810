#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

#include "base/exported.h"

namespace fuselage {

/// A 128-bit hash (XXH3) of a sequence of pieces, to recognize equal content. It is not
/// cryptographic. The length of each piece is hashed too, so ("ab", "c") differs from ("a", "bc").
class FUSELAGE_EXPORTED ContentHash {
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
