#include "server/limits/api_keys.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {

ApiKeys::ApiKeys(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  std::istringstream file(read_file(path, kMaxBytes));
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key, limit, more;
    if (!(words >> key)) continue;
    Key entry;
    if (words >> limit) {
      std::size_t per_minute = 0;
      const char* const end = limit.data() + limit.size();
      const auto [at, error] = std::from_chars(limit.data(), end, per_minute);
      if (error != std::errc{} || at != end || words >> more)
        throw Error(
            fmt::format("{}:{}: a line has a key and, at most, a number of requests a "
                        "minute behind it",
                        path, number));
      entry.per_minute = per_minute;
    }
    if (!keys_.try_emplace(key, entry).second)
      throw Error(fmt::format("{}:{}: a line above has this key too; leave one out", path, number));
  }
  if (keys_.empty()) throw Error(fmt::format("{}: there is no key; write one on each line", path));
}

const ApiKeys::Key* ApiKeys::find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

}  // namespace fuselage
