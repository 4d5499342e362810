#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fuselage/tools/open_translator.h"
#include "tests/host_locale.h"
#include "tests/temporary_folder.h"
#include "tools/options/command.h"
#include "tools/options/help_text.h"

namespace fuselage::locale_test {
namespace {

using ::testing::AnyOf;
using ::testing::Not;

std::vector<std::string> with_model(std::vector<std::string> arguments) {
  const std::string data = FUSELAGE_TEST_DATA;
  const std::string vocabulary = data + "/vocab.yml";
  arguments.insert(arguments.end(), {"-m", data + "/transformer-ssru/model.npz", "-v", vocabulary,
                                     vocabulary, "-b", "2"});
  return arguments;
}

void expect_numbers(const TranslatorOptions& options) {
  EXPECT_EQ(options.max_length_factor, 1.5F);
  EXPECT_EQ(options.word_penalty, 0.25F);
  EXPECT_EQ(options.normalize, 0.6F);
  EXPECT_EQ(options.repetition_penalty, 1.25F);
  EXPECT_EQ(options.compile.precompute_memory, 1234.5);
}

TEST(LocaleOfTheHost, DoesNotReadNumbersOfOptions) {
  const support::HostLocale locale;
  expect_numbers(open_translator(with_model({"--max-length-factor", "1.5", "--word-penalty", "0.25",
                                             "-n", "0.6", "--repetition-penalty", "1.25",
                                             "--precompute-memory", "1234.5", "--weights", "0.5"}))
                     .options());
  if (!locale.has_c()) GTEST_SKIP() << "there is no locale for C: localedef has no ps_AF";
}

TEST(LocaleOfTheHost, DoesNotReadNumbersOfConfigurations) {
  const support::HostLocale locale;
  const support::TemporaryFolder folder;
  std::ofstream(folder / "c.yml")
      << "%YAML 1.2\n---\nmax-length-factor: 1.5\nword-penalty: 0.25\nnormalize: 0.6\n"
         "repetition-penalty: 1.25\nprecompute-memory: 1234.5\nweights: [0.5]\n";
  expect_numbers(open_translator(with_model({"-c", folder / "c.yml"})).options());
}

/// Of the types that CLI11 converts by itself, in their names for help.
TEST(LocaleOfTheHost, ReadsNoOptionOfACommand) {
  for (const CommandEntry& entry : command_table()) {
    const std::unique_ptr<Command> command = entry.make();
    for (const CLI::Option* option : command->options().app().get_options())
      EXPECT_THAT(option->get_type_name(), Not(AnyOf("INT", "UINT", "FLOAT")))
          << entry.name << " " << option->get_name();
  }
}

TEST(LocaleOfTheHost, PrintsNoNumberOfTheHelp) {
  const auto help = [](const CommandEntry& entry) {
    return help_text(entry.make()->options(), 80);
  };
  for (const CommandEntry& entry : command_table()) {
    const std::string expected = help(entry);
    const support::HostNumbers locale;
    EXPECT_EQ(help(entry), expected) << entry.name;
  }
}

/// CLI11 reads numbers that begin with 0 as octal ones.
TEST(NumberOptions, AreDecimal) {
  EXPECT_EQ(open_translator(with_model({"--max-length", "010"})).options().max_length, 10u);
}

}  // namespace
}  // namespace fuselage::locale_test
