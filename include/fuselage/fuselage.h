/** \file
 * The C interface of Fuselage: translate and score text with a model.
 *
 *     fuselage_translator* translator = fuselage_translator_open("models/en-de", NULL);
 *     if (!translator) fprintf(stderr, "%s\n", fuselage_last_error());
 *
 * All functions may be called from several threads, with the same translator or scorer too. Text is
 * UTF-8. A function that fails returns NULL or a status other than FUSELAGE_OK;
 * fuselage_last_error() tells why. Structs of options and results begin with their size in bytes,
 * so a program works with later versions of the library whose structs have further members
 * (docs/compatibility.md). */
#ifndef FUSELAGE_FUSELAGE_H
#define FUSELAGE_FUSELAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FUSELAGE_C_API __attribute__((visibility("default")))

/** The version of this header. */
#define FUSELAGE_VERSION_MAJOR 0
#define FUSELAGE_VERSION_MINOR 1
#define FUSELAGE_VERSION_PATCH 0

/** The version of the library that runs, such as "0.1.0". */
FUSELAGE_C_API const char* fuselage_version(void);

typedef enum fuselage_status {
  FUSELAGE_OK = 0,
  FUSELAGE_ERROR = 1,         /**< a model, file, option or argument is invalid */
  FUSELAGE_NO_MEMORY = 2,     /**< there is not enough memory */
  FUSELAGE_INTERNAL_ERROR = 3 /**< a defect of the library */
} fuselage_status;

/** The message of the last failure in this thread, one line without a line break; "" if there was
 * none. Valid until the next call of this interface in this thread. */
FUSELAGE_C_API const char* fuselage_last_error(void);

/** The status of the last failure in this thread; FUSELAGE_OK if there was none. */
FUSELAGE_C_API fuselage_status fuselage_last_status(void);

/** Receives a note for the user: one line, without a line break. Called by one thread at a time. */
typedef void (*fuselage_log)(void* data, const char* note);

/** Settings of a translator or scorer. Initialize them with FUSELAGE_OPTIONS_INIT. Members that are
 * unset have the model's own values, else marian-decoder's defaults. */
typedef struct fuselage_options {
  size_t size;             /**< sizeof(fuselage_options) */
  int32_t beam_size;       /**< hypotheses per sentence; negative: unset */
  float normalize;         /**< a score is divided by length^normalize; negative: unset */
  float max_length_factor; /**< maximum number of words per source word; negative: unset */
  int32_t max_length;      /**< maximum number of words of a line; negative: unset */
  int32_t alignment;       /**< not 0: hypotheses have their alignment */
  int32_t strict;          /**< not 0: invalid and too long lines are errors */
  int32_t threads;         /**< that translate batches; 0: one per processor, a GPU one or two */
  const char* device;      /**< "cpu", "cuda", "cuda:1" or "cuda:0,cuda:1"; NULL: "cpu" */
  const char* precision;   /**< of products: "fp32", "int8", ...; NULL: unset */
  fuselage_log log;        /**< NULL: notes are not passed on */
  void* log_data;          /**< the first argument of log */
  const char* shortlist;   /**< path of a lexical table; "": none; NULL: the model's own */
} fuselage_options;

#define FUSELAGE_OPTIONS_INIT \
  { sizeof(fuselage_options), -1, -1, -1, -1, 0, 0, 1, NULL, NULL, NULL, NULL, NULL }

/* --- Translating --- */

typedef struct fuselage_translator fuselage_translator;
typedef struct fuselage_translations fuselage_translations;

/** Loads the model at `path`: a model directory, a Marian model (.npz or .bin), or a configuration
 * of marian-decoder (.yml). `options` may be NULL. */
FUSELAGE_C_API fuselage_translator* fuselage_translator_open(const char* path,
                                                             const fuselage_options* options);

/** NULL is allowed. */
FUSELAGE_C_API void fuselage_translator_close(fuselage_translator* translator);

/** Translates `count` lines. The caller frees the result. */
FUSELAGE_C_API fuselage_translations* fuselage_translate(const fuselage_translator* translator,
                                                         const char* const* lines, size_t count);

/** A hypothesis of a translation. Its pointers are valid as long as the translations. */
typedef struct fuselage_hypothesis {
  size_t size;              /**< sizeof(fuselage_hypothesis), set by the caller */
  const char* text;         /**< one line */
  float score;              /**< with word penalty and length normalization */
  float log_probability;    /**< sum of the word scores */
  size_t words;             /**< number of target words, the end symbol included */
  const float* word_scores; /**< log-probability of each target word */
  size_t source_words;      /**< number of source words, the end symbol included */
  /** Weight of each source word for each target word, [words][source_words]; NULL unless
   * requested. */
  const float* alignment;
} fuselage_hypothesis;

#define FUSELAGE_HYPOTHESIS_INIT \
  { sizeof(fuselage_hypothesis), NULL, 0, 0, 0, NULL, 0, NULL }

/** The best translation of line `line`, counted from 0; NULL if there is no such line. */
FUSELAGE_C_API const char* fuselage_translation_text(const fuselage_translations* translations,
                                                     size_t line);

/** The number of hypotheses of a line, at least 1; 0 if there is no such line. */
FUSELAGE_C_API size_t fuselage_translation_count(const fuselage_translations* translations,
                                                 size_t line);

/** Fills in hypothesis `rank` of a line; 0 is the best. */
FUSELAGE_C_API fuselage_status
fuselage_translation_hypothesis(const fuselage_translations* translations, size_t line, size_t rank,
                                fuselage_hypothesis* hypothesis);

/** NULL is allowed. */
FUSELAGE_C_API void fuselage_translations_free(fuselage_translations* translations);

/* --- Texts and documents --- */

/** What a page is. */
typedef enum fuselage_page_kind {
  FUSELAGE_PAGE_TEXT = 0, /**< plain text: each line is a paragraph of any number of sentences */
  FUSELAGE_PAGE_HTML = 1  /**< a document of HTML, or a text with tags */
} fuselage_page_kind;

/** Translates a page sentence by sentence; white space, line breaks and markup stay. With `second`,
 * which may be NULL, it translates what the first translator gives. Tags within sentences follow
 * their words if the translators were opened with `alignment`. The caller frees the result with
 * fuselage_page_free. */
FUSELAGE_C_API char* fuselage_translate_page(const fuselage_translator* translator,
                                             const fuselage_translator* second,
                                             fuselage_page_kind kind, const char* page);

/** NULL is allowed. */
FUSELAGE_C_API void fuselage_page_free(char* page);

/* --- Scoring --- */

typedef struct fuselage_scorer fuselage_scorer;

/** As fuselage_translator_open. Options of the search are ignored. */
FUSELAGE_C_API fuselage_scorer* fuselage_scorer_open(const char* path,
                                                     const fuselage_options* options);

/** NULL is allowed. */
FUSELAGE_C_API void fuselage_scorer_close(fuselage_scorer* scorer);

/** Writes the score of each of `count` pairs of a source and a target line to `scores`. After a
 * failure the contents of `scores` are undefined. */
FUSELAGE_C_API fuselage_status fuselage_score(const fuselage_scorer* scorer,
                                              const char* const* sources,
                                              const char* const* targets, size_t count,
                                              float* scores);

/* --- Models --- */

/** The path of the model that comes with the library, from English to German; NULL if it is not
 * installed. Valid until the next call of this interface in this thread. */
FUSELAGE_C_API const char* fuselage_bundled_model(void);

/** The path of the model that comes with the library from language `source` to language `target`,
 * codes such as "de" and "en", of which one may be NULL; without both it is
 * fuselage_bundled_model(). NULL if there is none. Valid as long as that. */
FUSELAGE_C_API const char* fuselage_find_bundled_model(const char* source, const char* target);

#ifdef __cplusplus
}
#endif

#endif
