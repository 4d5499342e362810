#include <iostream>
#include <string>

#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"

int main() {
  const fuselage::Translator translator(fuselage::find_bundled_model());
  for (std::string line; std::getline(std::cin, line);)
    std::cout << translator.translate(line).text() << "\n";
}
