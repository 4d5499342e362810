/* The C interface, used from C. Arguments: a model directory, and the file of its expected output.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuselage/fuselage.h"

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "FAILED: %s (last error: %s)\n", what, fuselage_last_error());
  ++failures;
}

static int notes = 0;

static void count_note(void* data, const char* note) {
  (void)note;
  ++*(int*)data;
}

static void refuses(const char* model) {
  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  expect(fuselage_translator_open("no/such/model", NULL) == NULL, "a model that does not exist");
  expect(fuselage_last_status() == FUSELAGE_ERROR, "the status of a missing model");
  expect(strstr(fuselage_last_error(), "no/such/model") != NULL, "the message has the path");
  expect(fuselage_translator_open(NULL, NULL) == NULL, "no path");
  options.device = "gpu";
  expect(fuselage_translator_open(model, &options) == NULL, "an unknown device");
  expect(strstr(fuselage_last_error(), "'gpu'") != NULL, "the message has the device");
  options.device = NULL;
  options.beam_size = 0;
  expect(fuselage_translator_open(model, &options) == NULL, "a beam of 0");
  options.beam_size = -1;
  options.size = 0;
  expect(fuselage_translator_open(model, &options) == NULL, "options without a size");
  fuselage_translator_close(NULL);
  fuselage_translations_free(NULL);
  fuselage_scorer_close(NULL);
}

static void reads_hypotheses(const fuselage_translations* translations) {
  fuselage_hypothesis best = FUSELAGE_HYPOTHESIS_INIT;
  fuselage_hypothesis second = {.size = sizeof second};
  float sum = 0;
  expect(fuselage_translation_count(translations, 0) == 4, "as many hypotheses as the beam has");
  expect(fuselage_translation_hypothesis(translations, 0, 0, &best) == FUSELAGE_OK, "the best");
  expect(fuselage_translation_hypothesis(translations, 0, 1, &second) == FUSELAGE_OK, "the next");
  expect(strcmp(best.text, fuselage_translation_text(translations, 0)) == 0, "the best is first");
  expect(best.score >= second.score, "scores are in order");
  for (size_t i = 0; i < best.words; ++i) sum += best.word_scores[i];
  expect(fabsf(sum - best.log_probability) < 1e-4F, "word scores add up");
  for (size_t i = 0; i < best.words; ++i) {
    float weights = 0;
    for (size_t j = 0; j < best.source_words; ++j)
      weights += best.alignment[i * best.source_words + j];
    expect(fabsf(weights - 1) < 1e-3F, "alignment weights of a word add up to 1");
  }
  expect(fuselage_translation_hypothesis(translations, 0, 4, &best) == FUSELAGE_ERROR, "no fifth");
  expect(fuselage_translation_hypothesis(translations, 9, 0, &best) == FUSELAGE_ERROR, "no line 9");
  best.size = 0;
  expect(fuselage_translation_hypothesis(translations, 0, 0, &best) == FUSELAGE_ERROR, "no size");
  expect(fuselage_translation_text(translations, 9) == NULL, "no text of line 9");
  expect(fuselage_translation_count(translations, 9) == 0, "no hypotheses of line 9");
}

/* A program that was compiled when the structs ended earlier. */
static void works_with_shorter_structs(const char* model, const char* const* lines) {
  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  fuselage_hypothesis hypothesis = {.size = offsetof(fuselage_hypothesis, words), .words = 77};
  options.size = offsetof(fuselage_options, normalize);
  options.beam_size = 2;
  fuselage_translator* translator = fuselage_translator_open(model, &options);
  expect(translator != NULL, "shorter options");
  fuselage_translations* translations = fuselage_translate(translator, lines, 1);
  expect(fuselage_translation_count(translations, 0) == 2, "members that the program knows");
  expect(fuselage_translation_hypothesis(translations, 0, 0, &hypothesis) == FUSELAGE_OK, "short");
  expect(hypothesis.words == 77, "nothing behind a shorter struct is written");
  fuselage_translations_free(translations);
  fuselage_translator_close(translator);
}

static void scores(const char* model, const fuselage_translations* translations,
                   const char* const* lines) {
  const char* targets[2] = {fuselage_translation_text(translations, 0),
                            fuselage_translation_text(translations, 1)};
  float given[2] = {0, 0};
  fuselage_scorer* scorer = fuselage_scorer_open(model, NULL);
  expect(scorer != NULL, "opens a scorer");
  expect(fuselage_score(scorer, lines, targets, 2, given) == FUSELAGE_OK, "scores");
  for (size_t i = 0; i < 2; ++i) {
    fuselage_hypothesis best = {.size = sizeof best};
    fuselage_translation_hypothesis(translations, i, 0, &best);
    /* A translation's score is relative to the words of the shortlist, so it is no lower. */
    expect(given[i] < best.score + 1e-3F && given[i] > best.score - 1,
           "the score of a translation");
  }
  expect(fuselage_score(scorer, lines, NULL, 2, given) == FUSELAGE_ERROR, "no targets");
  targets[1] = NULL;
  expect(fuselage_score(scorer, lines, targets, 2, given) == FUSELAGE_ERROR, "no second target");
  expect(strstr(fuselage_last_error(), "targets: line 1 is NULL") != NULL, "which one is NULL");
  expect(fuselage_score(scorer, NULL, NULL, 0, NULL) == FUSELAGE_OK, "no lines");
  fuselage_scorer_close(scorer);
}

/* Without the model's shortlist scores are relative to all words, as a scorer's are. */
static void works_without_a_shortlist(const char* model, const char* const* lines) {
  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  fuselage_hypothesis best = {.size = sizeof best};
  float given = 0;
  options.shortlist = "";
  fuselage_translator* translator = fuselage_translator_open(model, &options);
  fuselage_translations* translations = fuselage_translate(translator, lines, 1);
  const char* target = fuselage_translation_text(translations, 0);
  fuselage_scorer* scorer = fuselage_scorer_open(model, NULL);
  expect(fuselage_score(scorer, lines, &target, 1, &given) == FUSELAGE_OK, "scores a translation");
  fuselage_translation_hypothesis(translations, 0, 0, &best);
  expect(fabsf(given - best.score) < 1e-3F, "the score without a shortlist");
  fuselage_scorer_close(scorer);
  fuselage_translations_free(translations);
  fuselage_translator_close(translator);
  options.shortlist = "no/such/shortlist";
  expect(fuselage_translator_open(model, &options) == NULL, "a shortlist that does not exist");
  expect(strstr(fuselage_last_error(), "no/such/shortlist") != NULL, "the message has its path");
}

static void finds_bundled_models(void) {
  const char* found = fuselage_bundled_model();
  expect(found != NULL && strstr(found, "/en-de") != NULL, "the bundled model");
  found = fuselage_find_bundled_model(NULL, "de");
  expect(found != NULL && strstr(found, "/en-de") != NULL, "a bundled model to German");
  expect(fuselage_find_bundled_model("de", "fr") == NULL, "no model from German to French");
  expect(strstr(fuselage_last_error(), "'fr'") != NULL, "the message has the language");
}

/* Pages of the same sentences as `translations`. */
static void translates_pages(const fuselage_translator* translator) {
  char* text = fuselage_translate_page(translator, NULL, FUSELAGE_PAGE_TEXT,
                                       "Tom is my friend.  Where is the station?\n");
  expect(text != NULL && strcmp(text, "Tom ist mein Freund.  Wo ist der Bahnhof?\n") == 0,
         "translates a text");
  fuselage_page_free(text);
  text = fuselage_translate_page(translator, NULL, FUSELAGE_PAGE_HTML, "<p>Tom is my friend.</p>");
  expect(text != NULL && strcmp(text, "<p>Tom ist mein Freund.</p>") == 0, "translates HTML");
  fuselage_page_free(text);
  fuselage_page_free(NULL);
  expect(fuselage_translate_page(NULL, NULL, FUSELAGE_PAGE_TEXT, "Tom.") == NULL,
         "refuses no translator");
  expect(fuselage_translate_page(translator, NULL, (fuselage_page_kind)7, "Tom.") == NULL,
         "refuses another kind");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* model = argv[1];
  const char* lines[2] = {"Tom is my friend.", "Where is the station?"};
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", FUSELAGE_VERSION_MAJOR, FUSELAGE_VERSION_MINOR,
           FUSELAGE_VERSION_PATCH);
  expect(strcmp(fuselage_version(), version) == 0, "header and library have one version");
  expect(strcmp(fuselage_last_error(), "") == 0, "no error at first");
  refuses(model);
  finds_bundled_models();

  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  options.beam_size = 4;
  options.alignment = 1;
  options.log = count_note;
  options.log_data = &notes;
  fuselage_translator* translator = fuselage_translator_open(model, &options);
  expect(translator != NULL, "opens a translator");
  fuselage_translations* translations = fuselage_translate(translator, lines, 2);
  expect(translations != NULL, "translates");
  reads_hypotheses(translations);
  scores(model, translations, lines);
  works_with_shorter_structs(model, lines);
  works_without_a_shortlist(model, lines);
  translates_pages(translator);
  fuselage_translations_free(translations);
  fuselage_translator_close(translator);

  /* By the model's own settings, the bytes of the command. */
  FILE* expected = fopen(argv[2], "r");
  char line[1000];
  translator = fuselage_translator_open(model, NULL);
  translations = fuselage_translate(translator, lines, 2);
  for (size_t i = 0; i < 2; ++i) {
    expect(fgets(line, sizeof line, expected) != NULL, "the command's output");
    line[strcspn(line, "\n")] = '\0';
    expect(strcmp(line, fuselage_translation_text(translations, i)) == 0, line);
  }
  fclose(expected);
  fuselage_translations_free(translations);
  fuselage_translator_close(translator);

  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
