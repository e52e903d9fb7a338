// The page: one HTML document that contains its style, its script and, for a report, its data.
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
  std::string policy;  // Content-Security-Policy: allows only the page's own parts, by digest
};

// The files of src/view/page: page.html, page.css, the same for refusals, then the scripts, each after those it needs.
std::vector<EmbeddedFile> page_files();

// The page that queries a server. `title`: title of the document.
Page live_page(std::string_view title);
// The page that contains its answers: JSON of the form {"target": answer, ...}.
Page report_page(std::string_view title, std::string_view answers);

// The page for a browser that opened a refused link. `status`: the HTTP status. `sentence`: the reason.
Page refusal_page(int status, std::string_view rule, std::string_view sentence);

std::string base64(std::span<const std::byte> bytes);
// Escapes text for HTML.
std::string escape_html(std::string_view text);

}  // namespace tare::view
