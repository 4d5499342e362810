#include "fuselage/decoding/translator.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/make_model.h"

using namespace fuselage;

Graph tiny_translator(std::int64_t vocabulary_size, std::int64_t size);  // define-a-model.md

Translation translate_with_tiny_model(const std::string& folder, std::string_view line) {
  const TensorMap weights = read_safetensors(folder + "/weights.safetensors");
  const Model model = make_model(tiny_translator(1000, 16), weights, {folder + "/vocab.yml"});
  return Translator(model, {.beam_size = 4, .normalize = 0.6f}).translate(line);
}
