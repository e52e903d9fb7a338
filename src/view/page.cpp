// Assembles the page. The scripts are separate ES modules; the page has them as one script, without their imports and
// the keyword export.
#include "view/page.hpp"

#include <fmt/format.h>

#include <map>
#include <span>

#include "tare/digest.hpp"

namespace tare::view {
namespace {

std::string digest_in_policy(std::string_view text) {
  return "'sha256-" + base64(digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text))).bytes()) + "'";
}

std::string without_modules(std::string_view script) {
  std::string out;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size() - 1) + 1;
    std::string_view line = script.substr(0, end);
    script = script.substr(end);
    if (line.starts_with("import ")) continue;
    constexpr std::string_view kExport = "export ";
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    out += line;
  }
  return out;
}

// Replaces each "{{name}}" by its part, in one pass, so that inserted text is not expanded again.
std::string fill(std::string_view form, const std::map<std::string_view, std::string_view>& parts) {
  std::string out;
  for (;;) {
    const std::size_t mark = std::min(form.find("{{"), form.size());
    const std::size_t end = form.find("}}", mark);
    if (end == std::string_view::npos) return out += form;
    const auto part = parts.find(form.substr(mark + 2, end - mark - 2));
    out += form.substr(0, mark);
    if (part != parts.end()) out += part->second;
    form.remove_prefix(end + 2);
  }
}

Page assemble(std::string_view title, std::string_view answers) {
  std::string form, style, script = "'use strict';\n";
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == "page.html") form = file.text;
    if (file.name == "page.css") style = file.text;
    if (file.name.ends_with(".js")) script += without_modules(file.text);
  }
  Page page;
  // The script sets the styles of single elements through the DOM, which the policy need not allow.
  page.policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'",
      digest_in_policy(script), digest_in_policy(style));
  // In JSON, '<' is the only character with which HTML could end the script.
  std::string data;
  for (const char c : answers) data += c == '<' ? std::string("\\u003c") : std::string(1, c);
  const std::string shown = escape_html(title);
  page.html =
      fill(form, {{"title", shown}, {"policy", page.policy}, {"style", style}, {"script", script}, {"answers", data}});
  page.policy += "; frame-ancestors 'none'";  // only a header can state this
  return page;
}

}  // namespace

Page refusal_page(int status, std::string_view rule, std::string_view sentence) {
  std::string_view form, style;
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == "refused.html") form = file.text;
    if (file.name == "refused.css") style = file.text;
  }
  Page page;
  page.policy = fmt::format("default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                            digest_in_policy(style));
  const std::string why = escape_html(sentence), id = escape_html(rule), number = fmt::format("{}", status);
  const std::string_view title = status == 404   ? "Nothing is here"
                                 : status == 429 ? "Too many requests"
                                 : status == 503 ? "The server is busy"
                                                 : "This link does not work";
  page.html = fill(form, {{"title", title},
                          {"policy", page.policy},
                          {"style", style},
                          {"sentence", why},
                          {"rule", id},
                          {"status", number}});
  page.policy += "; frame-ancestors 'none'";
  return page;
}

Page live_page(std::string_view title) { return assemble(title, "null"); }
Page report_page(std::string_view title, std::string_view answers) { return assemble(title, answers); }

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
  }
  return text;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace tare::view
