#include "cli/browser.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "tare/error.hpp"

extern char** environ;

namespace tare::cli {
namespace {

using Words = std::vector<std::string>;

// Splits a command into words and puts the link in its place.
Words command_words(const std::string& command, const std::string& link) {
  Words words;
  bool placed = false;
  std::istringstream text(command);
  for (std::string word; text >> word;) {
    if (const std::size_t at = word.find("%s"); at != std::string::npos) {
      word.replace(at, 2, link);
      placed = true;
    }
    words.push_back(std::move(word));
  }
  if (!placed) words.push_back(link);
  return words;
}

bool spawn_quietly(Words words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t settings;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&settings);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  // This process blocks the signals, because a thread waits for them, and ignores some; the browser must not inherit
  // that.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings, &none);
  ::posix_spawnattr_setsigdefault(&settings, &all);
  // The browser gets a session of its own, because Ctrl-C is for the server.
  ::posix_spawnattr_setflags(&settings, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t process = 0;
  const int problem = ::posix_spawnp(&process, arguments[0], &files, &settings, arguments.data(), environ);
  ::posix_spawnattr_destroy(&settings);
  ::posix_spawn_file_actions_destroy(&files);
  return problem == 0;
}

std::string_view named_browsers() {
  const char* const text = std::getenv("BROWSER");
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Returns a directory for files that exist as long as the session, or for temporary ones.
std::string place_for_pages() {
  for (const char* const name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* const path = std::getenv(name);
    if (path != nullptr && path[0] == '/' && ::access(path, W_OK | X_OK) == 0) return path;
  }
  return "/tmp";
}

std::string file_url(const std::string& path) {
  std::string url = "file://";
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-~").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

}  // namespace

LinkPage::LinkPage(const std::string& link) {
  const std::string place = place_for_pages();
  const io::Directory parent = io::Directory::open(place.c_str());
  const auto failed = [&] {
    return Error(ErrorKind::io, "view.handover", fmt::format("no page for the browser: {}", std::strerror(errno)))
        .in(place);
  };
  if (!parent) throw failed();
  io::sweep_staging_directories(parent, false);
  folder_ = std::make_unique<io::StagingDirectory>(parent, "view.handover", place);
  const io::Descriptor file = folder_->directory().create("Tare.html", 0600);
  const std::string text = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\"><title>Tare</title><a href=\"{0}\">Tare</a>\n",
      link);
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw failed();
  file_link_ = file_url(place + "/" + folder_->name() + "/Tare.html");
}

bool has_browser() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return !named_browsers().empty() || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

bool open_browser(const std::string& link) {
  std::istringstream named{std::string(named_browsers())};
  for (std::string command; std::getline(named, command, ':');)
    if (command.find_first_not_of(" \t") != std::string::npos && spawn_quietly(command_words(command, link)))
      return true;
  for (const char* const usual : {"xdg-open", "sensible-browser", "x-www-browser"})
    if (spawn_quietly({usual, link})) return true;
  return false;
}

}  // namespace tare::cli
