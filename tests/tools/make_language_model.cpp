// Writes a small language model as a model directory. Usage: make_language_model VOCABULARY
// DIRECTORY

#include "fuselage/models/directory/model_directory.h"
#include "tests/language_model.h"

int main(int, char** arguments) {
  const fuselage::Model model = fuselage::support::make_language_model(arguments[1]);
  fuselage::save_model_directory(model, model.vocabularies, arguments[2]);
}
