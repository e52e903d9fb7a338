#include "cli/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "base/printable.hpp"
#include "cli/advice.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "options/missing_file.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;
// What every line on standard error begins with.
constexpr std::string_view kMe = "tare: ";

// What SGR calls the styles, in the order of Style.
constexpr std::string_view kCodes[] = {"0", "1", "2", "31", "33", "32", "36"};

// The length of a sequence of `styled` at the beginning of the text; 0 if there is none.
std::size_t length_of_style(std::string_view text) {
  constexpr std::string_view kBegin = "\x1b[";
  if (!text.starts_with(kBegin)) return 0;
  const std::size_t end = text.find('m');
  if (end == std::string_view::npos) return 0;
  const std::string_view code = text.substr(kBegin.size(), end - kBegin.size());
  return std::ranges::find(kCodes, code) == std::end(kCodes) ? 0 : end + 1;
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

// Appends text to what goes to standard output. Verbs make a file's text printable themselves; for any that one of
// them forgets, nothing that steers a terminal gets through but the styles of this program.
void append_shown(std::string& out, std::string_view text, bool color, bool several_lines) {
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t style = color ? length_of_style(text) : 0;
    const std::size_t length = style > 0 ? style : first_code_point(text).length;
    const std::string_view piece = text.substr(0, length);
    if (style > 0 || piece == "\t" || (several_lines && piece == "\n"))
      out += piece;
    else
      out += printable(piece);
    text.remove_prefix(length);
  }
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Looks at the environment only: a locale that is set but not installed still shows what the terminal supports.
bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::size_t terminal_columns(int descriptor) {
  const std::string_view asked = environment("COLUMNS");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  if (error == std::errc() && end == asked.data() + asked.size() && columns > 0) return columns;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

Screen Screen::of(int descriptor, std::string_view color_option) {
  Screen screen;
  screen.terminal = ::isatty(descriptor) == 1;
  if (screen.terminal) screen.columns = std::max<std::size_t>(20, terminal_columns(descriptor));
  screen.color = color_option == "always" || (color_option == "auto" && screen.terminal &&
                                              environment("NO_COLOR").empty() && environment("TERM") != "dumb");
  return screen;
}

Session::Session(const Arguments& arguments)
    : stdout_(descriptor_sink(STDOUT_FILENO, "standard output")),
      screen_(Screen::of(STDOUT_FILENO, arguments.get("color", "auto"))),
      messages_(Screen::of(STDERR_FILENO, arguments.get("color", "auto"))),
      quiet_(arguments.has("quiet")),
      json_(arguments.has("json")),
      unicode_(utf8_locale()) {}

Session::~Session() = default;

void Session::print(std::string_view text) {
  append_shown(buffer_, text, screen_.color, true);
  if (buffer_.size() >= kBuffer) flush();
}

void Session::line(std::string_view text) {
  append_shown(buffer_, text, screen_.color, json_);  // JSON has line feeds between its values only
  print("\n");
}

void Session::flush() {
  // Emptied first, so that text which could not be written is not tried again.
  const std::string text = std::exchange(buffer_, {});
  if (!text.empty()) stdout_->write(std::as_bytes(std::span(text)));
}

Sink& Session::raw() {
  flush();
  return *stdout_;
}

std::string styled(Style style, std::string_view text, bool color) {
  if (!color || style == Style::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(style)], text);
}

std::string Session::paint(Style style, std::string_view text) const { return styled(style, text, screen_.color); }

void Session::complain(const Error& error, std::string_view file) {
  flush();
  message(error_line(error, file));
  fail(exit_code_of(error));
}

void Session::give_up(const Error& error, std::string_view file) {
  answer(error, nullptr, file);
  complain(error, file);
}

void Session::answer(const Error& error, const Verb* verb, std::string_view file) {
  if (!json_) return;
  line(error_json(error, error_line(error, file, verb).substr(kMe.size()), file));
  flush();
}

void Session::remark(std::string_view text) {
  if (quiet_) return;
  flush();
  message(fmt::format("{}{}", kMe, printable(text)));
}

void Session::remark_below(Style style, std::string_view word, std::string_view text) {
  constexpr std::size_t kWord = 7, kIndent = 2 + kWord + 2;
  if (quiet_) return;
  flush();
  const std::size_t room = messages_.columns > kIndent + 20 ? messages_.columns - kIndent : 20;
  std::string out =
      fmt::format("  {}{:{}}", styled(style, word, messages_.color), "", kWord - std::min(kWord, word.size()));
  const std::string shown = printable(text);
  const auto lines = messages_.terminal ? wrap(shown, room) : std::vector<std::string>{shown};
  for (std::size_t i = 0; i < lines.size(); ++i) out += fmt::format("{:{}}{}\n", "", i == 0 ? 2 : kIndent, lines[i]);
  to_stderr(out);
}

void Session::fail(int code) { code_ = std::max(code_, code); }

int exit_code_of(const Error& error) {
  return error.kind() == ErrorKind::usage && error.subject() != Subject::output ? kUsage : kFailed;
}

std::string error_line(const Error& error, std::string_view file, const Verb* verb) {
  std::string text(kMe);
  if (error.file().empty() && !file.empty()) text += fmt::format("{}: ", file);
  std::string sentence = advised(error.sentence(), error.remedies(), verb);
  if (error.kind() == ErrorKind::not_found && error.subject() != Subject::output)
    sentence = missing_file_sentence(sentence, error.file().empty() ? std::string(file) : error.file());
  return printable(text + error.reworded(sentence).what());
}

void to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::vector<std::string> lines_of(std::string_view sentence, const Screen& screen) {
  constexpr std::size_t kIndent = 2;
  if (!screen.terminal) return {std::string(sentence)};
  std::vector<std::string> lines = wrap(sentence, screen.columns - kIndent);
  for (std::size_t i = 1; i < lines.size(); ++i) lines[i].insert(0, kIndent, ' ');
  return lines;
}

void message(std::string_view sentence) {
  std::string text;
  for (const std::string& line : lines_of(sentence, Screen::of(STDERR_FILENO, "never"))) text += line + "\n";
  to_stderr(text);
}

bool stdout_reader_gone() {
  pollfd state{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace tare::cli
