#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace fuselage {

/// A path for a test's file that no test of another process uses at the same time.
inline std::string temp_path(const std::string& name) {
  return ::testing::TempDir() + "fuselage_" + std::to_string(getpid()) + "_" + name;
}

}  // namespace fuselage
