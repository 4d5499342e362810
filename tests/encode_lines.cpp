// encode_lines VOCABULARY: for each line of the standard input writes the ids of its words, and the
// text of these, with a byte 1 for each end of a line. For scripts/compare_tokenizers.py.

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "text/vocabulary.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: encode_lines VOCABULARY <LINES\n");
    return 2;
  }
  try {
    const auto vocabulary = fuselage::load_vocabulary(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) {
      const std::vector<fuselage::WordId> ids = vocabulary->encode(line);
      for (const fuselage::WordId id : ids) std::cout << id << ' ';
      std::string text = vocabulary->decode(ids);
      for (char& c : text)
        if (c == '\n') c = '\1';
      std::cout << '\n' << text << '\n';
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
