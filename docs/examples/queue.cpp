#include <iostream>
#include <string>
#include <vector>

#include "fuselage/decoding/translation_queue.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"

int main() {
  const fuselage::Translator translator(fuselage::find_bundled_model(), {.threads = 2});
  fuselage::TranslationQueue queue(translator, {.max_waiting = 64});
  std::vector<std::future<fuselage::Translation>> results;
  for (std::string line; std::getline(std::cin, line);) results.push_back(queue.submit(line));
  for (auto& result : results) std::cout << result.get().text() << "\n";
}
