#include "backends/cuda/device/kernel/kernel_registry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/kernel_table.h"

namespace fuselage::cuda {
namespace {

// None of these needs a GPU.

TEST(KernelRegistryTest, HasTheKernelsOfTheTableOnce) {
  std::multiset<std::string> registered;
  for (const KernelEntry& entry : kernel_registry()) registered.emplace(entry.name);
  std::set<std::string> names;
  for (const KernelInfo* kernel : cuda_kernels()) names.emplace(kernel->name);
  // Without cuDNN's header its kernels are not built.
  if (!has_recurrent_layers() && registered.count("recurrent_layer") == 0)
    names.erase("recurrent_layer");
  EXPECT_THAT(registered, ::testing::ElementsAreArray(names));
}

}  // namespace
}  // namespace fuselage::cuda
