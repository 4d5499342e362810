#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage::cpu {

/// The instruction-set levels supported by both machine and binary, weakest first: a subset of
/// "scalar" (or "emu128"), "sse4", "avx2", "avx2_vnni", "avx3", "avx3_vnni"
/// and "avx3_amx" (AVX-VNNI, AVX-512-VNNI and AMX for integer products), or on ARM64 of "neon",
/// "neon_dotprod" and "neon_i8mm" (dot products, and products of matrices, of bytes).
std::vector<std::string> supported_isas();

/// The level of the kernels that kernels() returns.
std::string active_isa();

/// Makes `name` the active level. Tables returned before stay valid and keep their level. Throws
/// Error with supported_isas() if the level is unknown or unsupported.
void force_isa(std::string_view name);

/// Chooses the level once per process: the environment variable FUSELAGE_ISA if set (throws Error
/// as force_isa does), else the strongest level. Does nothing after force_isa. Called by kernels().
void init_isa();

}  // namespace fuselage::cpu
