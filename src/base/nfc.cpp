#include "base/nfc.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace tare {

bool is_nfc(std::string_view text) {
  // Fast path for nearly all text, without the tables.
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> kept(made, &std::free);
  return length >= 0 && text == std::string_view(reinterpret_cast<const char*>(made), static_cast<std::size_t>(length));
}

}  // namespace tare
