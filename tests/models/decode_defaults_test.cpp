#include "fuselage/models/decode_defaults.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "models/directory/model_config.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

DecodeDefaults all_stated() {
  return {.beam_size = 6,
          .normalize = 0.6f,
          .word_penalty = -0.25f,
          .max_length_factor = 3.0f,
          .max_length = 200,
          .allow_unk = true,
          .keep_beam = true,
          .early_stopping = EarlyStopping::heuristic,
          .forced_end = true,
          .renormalize = true,
          .max_words = 30,
          .min_length = 2,
          .no_repeat_ngram_size = 3,
          .repetition_penalty = 1.25f,
          .mini_batch = 8,
          .mini_batch_words = 500,
          .maxi_batch = 10,
          .maxi_batch_sort = MaxiBatchSort::src,
          .precision = Precision::int4_log,
          .activations = Activations::fast,
          .kv_cache = KvCache::int8};
}

TEST(DecodeDefaults, AreTextByKey) {
  const DecodeDefaults stated = all_stated();
  DecodeDefaults read;
  for (const std::string_view key : decode_keys()) {
    EXPECT_EQ(decode_text(DecodeDefaults{}, key), std::nullopt) << key;
    set_decode_default(read, key, decode_text(stated, key).value(), "test");
  }
  EXPECT_EQ(read, stated);
  for (const std::string_view key : decode_keys()) clear_decode_default(read, key);
  EXPECT_EQ(read, DecodeDefaults{});
}

TEST(DecodeDefaults, RefuseOtherValuesByFileKeyAndBothValues) {
  const auto set = [](std::string_view key, const std::string& text) {
    return [=] {
      DecodeDefaults defaults;
      set_decode_default(defaults, key, text, "m/config.json: decode");
    };
  };
  EXPECT_THAT(set("beam-size", "0"),
              ThrowsMessage<Error>("m/config.json: decode: 'beam-size' must be a whole number from "
                                   "1 to 1024, not '0'"));
  EXPECT_THAT(set("normalize", "x"), ThrowsMessage<Error>(HasSubstr("from -10 to 10, not 'x'")));
  EXPECT_THAT(set("max-length-factor", "1e-300"), ThrowsMessage<Error>(HasSubstr("above 0")));
  EXPECT_THAT(set("allow-unk", "1"), ThrowsMessage<Error>(HasSubstr("false, true, not '1'")));
  EXPECT_THAT(set("maxi-batch-sort", "trg"), ThrowsMessage<Error>(HasSubstr("none, src, not")));
  EXPECT_THAT(set("precision", "int7"), ThrowsMessage<Error>(HasSubstr("int8, int4, int4-log")));
  EXPECT_THAT(set("activations", "slow"), ThrowsMessage<Error>(HasSubstr("exact, fast, table")));
  EXPECT_THAT(set("kv-cache", "int4"), ThrowsMessage<Error>(HasSubstr("fp32, int8, not 'int4'")));
  EXPECT_THAT(set("beam-sise", "1"),
              ThrowsMessage<Error>(HasSubstr("unknown key 'beam-sise'; did you mean 'beam-size'")));
  DecodeDefaults marian;
  set_decode_default(marian, "precision", "float32", "test");
  EXPECT_EQ(marian.precision, Precision::fp32);
}

TEST(DecodeDefaults, AreFilledUpByOthers) {
  DecodeDefaults defaults{.beam_size = 4, .normalize = 1.0f};
  const DecodeDefaults others{.beam_size = 6, .normalize = 1.0f, .max_length = 50};
  EXPECT_THAT(add_decode_defaults(defaults, others), ElementsAre("beam-size"));
  EXPECT_EQ(defaults,
            (DecodeDefaults{.beam_size = 4, .normalize = 1.0f, .max_length = std::size_t{50}}));
  EXPECT_THAT(add_decode_defaults(defaults, {}), IsEmpty());
}

TEST(DecodeDefaults, AreVerified) {
  verify(all_stated());
  EXPECT_THAT(
      [] { verify({.max_length_factor = 0.0f}); },
      ThrowsMessage<Error>("max-length-factor must be a number above 0 and up to 1000, not 0"));
  EXPECT_THAT([] { verify({.mini_batch = std::size_t{0}}); },
              ThrowsMessage<Error>(HasSubstr("mini-batch must be a whole number from 1")));
}

/// The bytes of config.json do not change.
TEST(ModelConfig, PrintsDefaultsAsBefore) {
  const std::string text = R"({
  "fuselage-model": 1,
  "name": "m",
  "right-left": false,
  "decode": {
    "activations": "fast",
    "allow-unk": true,
    "beam-size": 6,
    "early-stopping": "heuristic",
    "forced-end": true,
    "keep-beam": true,
    "kv-cache": "int8",
    "max-length": 200,
    "max-length-factor": 3,
    "max-words": 30,
    "maxi-batch": 10,
    "maxi-batch-sort": "src",
    "min-length": 2,
    "mini-batch": 8,
    "mini-batch-words": 500,
    "no-repeat-ngram-size": 3,
    "normalize": 0.6,
    "precision": "int4-log",
    "renormalize": true,
    "repetition-penalty": 1.25,
    "word-penalty": -0.25
  }
}
)";
  EXPECT_EQ(print_model_config({.name = "m", .decode = all_stated()}), text);
  EXPECT_EQ(parse_model_config(text, "config.json", false).decode, all_stated());
}

TEST(ModelConfig, NamesFileKeyAndBothValues) {
  const std::string text = R"({"fuselage-model": 1, "decode": {"beam-size": 2.5, "new": 1}})";
  EXPECT_THAT([&] { parse_model_config(text, "m/config.json", false); },
              ThrowsMessage<Error>(HasSubstr("m/config.json: decode: unknown key 'new'")));
  EXPECT_THAT([&] { parse_model_config(text, "m/config.json", true); },
              ThrowsMessage<Error>(HasSubstr("'beam-size' must be a whole number from 1 to 1024, "
                                             "not '2.5'")));
}

}  // namespace
}  // namespace fuselage
