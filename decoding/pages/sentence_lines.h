#pragma once

#include <string_view>
#include <vector>

#include "fuselage/decoding/line_guide.h"
#include "text/pages/page.h"

namespace fuselage {

/// Throws Error naming the line of a page, counted from 1, that is not valid UTF-8 or has NUL in
/// it.
void expect_valid_page(std::string_view page);

/// For each sentence of a page the line of the document where it begins, or where the first invalid
/// byte is that it has, so that messages are about the document. Sentences of a line are its parts.
std::vector<LineGuide> sentence_lines(const Page& page);

}  // namespace fuselage
