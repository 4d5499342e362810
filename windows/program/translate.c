/* translate MODEL PRECISION: translates standard input line by line, and prints the n-best list of each line with all
 * digits of the scores of its words. Every system must print the same bytes where products are of integers. */
#include <stdio.h>
#include <string.h>

#include "fuselage/fuselage.h"

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#define MAX_LINES 64
#define MAX_BYTES 4096

static void print_note(void* data, const char* note) {
  (void)data;
  fprintf(stderr, "%s\n", note);
}

static int fail(void) {
  fprintf(stderr, "%s\n", fuselage_last_error());
  return 1;
}

static void print_line(const fuselage_translations* translations, size_t line) {
  for (size_t rank = 0; rank < fuselage_translation_count(translations, line); ++rank) {
    fuselage_hypothesis hypothesis = FUSELAGE_HYPOTHESIS_INIT;
    if (fuselage_translation_hypothesis(translations, line, rank, &hypothesis) != FUSELAGE_OK) return;
    printf("%zu\t%s\t%.9g", line, hypothesis.text, hypothesis.score);
    for (size_t word = 0; word < hypothesis.words; ++word)
      printf(" %.9g", hypothesis.word_scores[word]);
    printf("\n");
  }
}

int main(int argc, char** argv) {
  static char text[MAX_LINES][MAX_BYTES];
  const char* lines[MAX_LINES];
  size_t count = 0;
  if (argc != 3) {
    fprintf(stderr, "usage: translate MODEL PRECISION <LINES\n");
    return 2;
  }
#ifdef _WIN32
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  options.beam_size = 4;
  options.normalize = 0.6f;
  options.precision = argv[2];
  options.log = print_note;
  fuselage_translator* translator = fuselage_translator_open(argv[1], &options);
  if (translator == NULL) return fail();
  while (count < MAX_LINES && fgets(text[count], MAX_BYTES, stdin) != NULL) {
    text[count][strcspn(text[count], "\n")] = '\0';
    lines[count] = text[count];
    ++count;
  }
  fuselage_translations* translations = fuselage_translate(translator, lines, count);
  if (translations == NULL) return fail();
  for (size_t line = 0; line < count; ++line) print_line(translations, line);
  fuselage_translations_free(translations);
  fuselage_translator_close(translator);
  return 0;
}
