#include <stdio.h>
#include <string.h>

#include "fuselage/fuselage.h"

/* Translates standard input line by line with the bundled model. */
int main(void) {
  fuselage_translator* translator = fuselage_translator_open(fuselage_bundled_model(), NULL);
  if (translator == NULL) {
    fprintf(stderr, "%s\n", fuselage_last_error());
    return 1;
  }
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const char* lines[] = {line};
    fuselage_translations* translations = fuselage_translate(translator, lines, 1);
    if (translations == NULL) {
      fprintf(stderr, "%s\n", fuselage_last_error());
      return 1;
    }
    puts(fuselage_translation_text(translations, 0));
    fuselage_translations_free(translations);
  }
  fuselage_translator_close(translator);
  return 0;
}
