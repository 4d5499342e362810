#pragma once

#include <array>
#include <string_view>

namespace fuselage {

/// Lines for vocabularies to encode: many scripts, characters that normalization changes, and
/// invalid UTF-8.
inline constexpr std::array<std::string_view, 16> kFuzzTexts = {
    std::string_view("Tom is happy."),
    "  two  spaces\tand a tab ",
    "Ünïcödé Å ñ É",
    "e\xCC\x81 A\xCC\x8A o\xCC\x88",
    "ﬁ ﬂ Ａ Ｂ １２３ ① ㍿ ﷺ ½",
    "日本語の文章、漢字とカナ。",
    "한국어 문장",
    "Привет, мир",
    "Ελληνικά",
    "مرحبا بالعالم שלום",
    "नमस्ते สวัสดี",
    "😀👍🏽👨‍👩‍👧",
    "▁piece ▁▁ <unk> </s> <s> <0x0A>",
    "\xE2\x80\x8B\xEF\xBB\xBF\xC2\xA0\xE3\x80\x80",
    std::string_view("a\0b\x01\x7F", 5),
    "\xC3 \xE2\x96 \xF0\x9F\x98 \xFF\xFE \xED\xA0\x80",
};

}  // namespace fuselage
