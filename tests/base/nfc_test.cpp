#include "base/nfc.hpp"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Nfc, IsTheComposedFormInOrder) {
  for (const char* const good :
       {"", "plain", "caf\xC3\xA9", "\xE1\xBA\xAD", "\xEA\xB0\x81", "\xE4\xBD\xA0", "\xCE\xA9", "\xF0\x9F\x98\x80"})
    EXPECT_TRUE(is_nfc(good)) << good;
  for (const char* const bad : {"cafe\xCC\x81",              // e and an accent, which have a composed form
                                "\xC3\xA2\xCC\xA3",          // composed, and a mark that belongs before its accent
                                "\xE1\x84\x80\xE1\x85\xA1",  // a Hangul syllable in parts
                                "\xE2\x84\xA6",              // the ohm sign, which is canonically the letter omega
                                "a\xCC\x82\xCC\xA7",         // marks out of order
                                "\xEF\xA4\x80",              // a compatibility ideograph
                                "\xFF", "a\xC3"}) {          // not UTF-8
    EXPECT_FALSE(is_nfc(bad)) << bad;
  }
}

}  // namespace
}  // namespace tare
