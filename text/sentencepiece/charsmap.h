#pragma once

#include <string_view>

namespace fuselage {

/// Throws Error, without a file name, unless the SentencePiece library can safely apply the
/// normalization rules of a model to any text: the library checks neither the bounds nor the number
/// of rules. An empty table has no rules. Takes time linear in the bytes.
///
/// The table consists of the size of a double-array trie (Darts-clone), the trie, and the
/// NUL-terminated replacement texts that its leaves point to.
void check_charsmap(std::string_view charsmap);

}  // namespace fuselage
