#pragma once

#include <string_view>

namespace fuselage {

/// Throws Error, without a file's name, unless the library can follow the normalization rules of a
/// SentencePiece model for any text: it looks neither where they lead nor how many there are. An
/// empty table has no rules. Takes time linear in the bytes.
///
/// The table is the size of a double-array trie of the Darts-clone library, the trie, and the texts
/// that its leaves point into, each ended by a NUL.
void check_charsmap(std::string_view charsmap);

}  // namespace fuselage
