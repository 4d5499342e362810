#include <fuselage/base/error.h>
#include <fuselage/decoding/translator.h>
#include <fuselage/models/formats/safetensors.h>
#include <fuselage/models/make_model.h>

#include <cstdint>
#include <iostream>
#include <vector>

// In tiny_translator.cpp.
fuselage::Graph tiny_translator(std::int64_t vocabulary_size, std::int64_t size);

/// tiny VOCABULARY WEIGHTS: translates standard input.
int main(int argc, char** argv) {
  using namespace fuselage;
  try {
    if (argc != 3) throw Error("usage: tiny VOCABULARY WEIGHTS");
    const TensorMap weights = read_safetensors(argv[2]);
    const std::vector<std::int64_t> embedding = weights.at("E").shape();
    const Graph graph = tiny_translator(embedding[0], embedding[1]);
    const Translator translator(make_model(graph, weights, {argv[1]}), {.beam_size = 4});
    translator.translate(std::cin, [](std::size_t, Translation&& translation) {
      std::cout << translation.n_best.front().text << "\n";
    });
  } catch (const std::exception& error) {
    std::cerr << "tiny: " << error.what() << "\n";
    return 1;
  }
}
