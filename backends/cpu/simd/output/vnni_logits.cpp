#define FUSELAGE_VNNI_INCLUDE "backends/cpu/simd/output/level_logits-inl.h"
#include "backends/cpu/simd/foreach_vnni-inl.h"
