#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace fuselage {

/// The keys with which clients may use a server.
class ApiKeys {
 public:
  struct Key {
    std::optional<std::size_t> per_minute;  ///< requests; none: as for all clients
  };

  /// Without keys, every client may.
  ApiKeys() = default;
  /// Reads a file: on each line a key, which a blank and a number of requests a minute may follow;
  /// "#" begins a comment. Throws Error with the place of a line of another form, and for a file
  /// without keys.
  explicit ApiKeys(const std::string& path);

  bool are_required() const { return !keys_.empty(); }
  /// Null: there is no such key.
  const Key* find(const std::string& key) const;

 private:
  std::map<std::string, Key> keys_;
};

}  // namespace fuselage
