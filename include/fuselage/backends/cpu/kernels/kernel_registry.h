#pragma once

#include <initializer_list>
#include <span>

#include "fuselage/backends/cpu/runtime/kernel.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

/// The kernels that a plan chooses from, best first: the caller's kernels `first`, then registered
/// ones, then the back-end's, the reference evaluation last. All are of type KernelEntry. `first`
/// must outlive the plan.
KernelSet kernel_set(std::span<const KernelEntry> first = {});

/// Adds copies of the entries before the back-end's own kernels, all or none; of the entries of one
/// op the first is preferred. Executables that are compiled later choose from them; see
/// docs/add-a-kernel.md. Thread-safe. Throws Error for an op that does not exist, for an entry
/// without a name or a factory function, and for a name that another kernel of the op has.
void register_kernels(std::span<const KernelEntry> kernels);
void register_kernels(std::initializer_list<KernelEntry> kernels);

/// The registered entries at this moment, in order of registration.
std::vector<const KernelEntry*> registered_kernels();

}  // namespace cpu
}  // namespace fuselage
