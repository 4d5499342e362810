#include "base/machine/process_memory.h"

#include <gmock/gmock.h>

namespace fuselage {
namespace {

TEST(ProcessMemory, IsReadFromTheStatusOfAProcess) {
  const ProcessMemory memory = parse_process_status(
      "Name:\tVmRSS: 7 kB\nVmPeak:\t  99999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"
      "RssAnon:\t     600 kB\nRssFile:\t     400 kB\nRssShmem:\t      24 kB");
  EXPECT_EQ(memory.peak, 2048u * 1024);
  EXPECT_EQ(memory.resident, 1024u * 1024);
  EXPECT_EQ(memory.files, 424u * 1024);
}

TEST(ProcessMemory, IsZeroWhereNothingIsTold) {
  for (const char* text : {"", "\n", "VmRSS", "VmRSS:", "VmRSS: kB", "VmRSSx: 5 kB"}) {
    EXPECT_EQ(parse_process_status(text).resident, 0u) << text;
    EXPECT_EQ(parse_process_status(text).peak, 0u) << text;
  }
}

TEST(ProcessMemory, OfThisProcessIsSomething) {
  const ProcessMemory memory = process_memory();
  EXPECT_GT(memory.resident, 1u << 20);
  EXPECT_GE(memory.peak, memory.resident / 2);
  EXPECT_LT(memory.files, memory.resident);
}

}  // namespace
}  // namespace fuselage
