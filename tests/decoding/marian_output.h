#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace fuselage::support {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A printed line in its parts.
inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t end; (end = line.find(" ||| ", begin)) != std::string::npos; begin = end + 5)
    fields.push_back(line.substr(begin, end - begin));
  fields.push_back(line.substr(begin));
  return fields;
}

/// The numbers of a field, without names such as "F0=".
inline std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    if (word.find('=') == std::string::npos) numbers.push_back(std::stod(word));
  return numbers;
}

}  // namespace fuselage::support
