// The page: one HTML document with its style, its script and, in a report, its data inside.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace tare::view {

struct Page {
  std::string html;
  std::string policy;  // Content-Security-Policy: nothing but what is in the page, by digest
};

// The files of src/view/page: page.html, page.css, then the scripts in the order in which they need each other.
std::vector<EmbeddedFile> page_files();

// The page that asks a server. `title`: of the document.
Page live_page(std::string_view title);
// The page that has the answers in it: JSON of {"target": answer, ...}.
Page report_page(std::string_view title, std::string_view answers);

std::string base64(std::span<const std::byte> bytes);
// Text in HTML.
std::string escape_html(std::string_view text);

}  // namespace tare::view
