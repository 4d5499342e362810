#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage::cpu {

/// The instruction-set levels that this machine runs and this binary holds, weakest first: of
/// "scalar" (or "emu128"), "ssse3", "sse4", "avx2", "avx3", "avx3_vnni" (AVX-512-VNNI for the
/// products of integers).
std::vector<std::string> supported_isas();

/// The level whose kernels kernels() hands out.
std::string active_isa();

/// Makes `name` the active level. Tables handed out before stay valid and keep their level. Throws
/// Error, listing supported_isas(), when the machine lacks it or the name is unknown.
void force_isa(std::string_view name);

/// Chooses the level once a process: FUSELAGE_ISA when the environment sets it (Error as from
/// force_isa), else the strongest. Does nothing after force_isa. kernels() calls it.
void init_isa();

}  // namespace fuselage::cpu
