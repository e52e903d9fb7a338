// view: look at a model in a browser.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "view/page.hpp"
#include "view/server.hpp"
#include "view/service.hpp"

extern char** environ;

namespace tare::cli::view_verb {
namespace {

bool has_screen() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

// Everybody can see the arguments of a process: this link works once, and leads to the lasting one.
void open_browser(std::string link) {
  std::string program = "xdg-open";
  char* arguments[] = {program.data(), link.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t settings;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&settings);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  // Ours are blocked, because a thread waits for them.
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&settings, &none);
  ::posix_spawnattr_setflags(&settings, POSIX_SPAWN_SETSIGMASK);
  pid_t process = 0;
  static_cast<void>(::posix_spawnp(&process, "xdg-open", &files, &settings, arguments, environ));
  ::posix_spawnattr_destroy(&settings);
  ::posix_spawn_file_actions_destroy(&files);
}

int run(const Arguments& arguments, Session& session) {
  const std::vector<std::string> paths(arguments.operands().begin(), arguments.operands().end());
  const view::Service service(paths, read_options(arguments));
  if (arguments.has("json")) {
    session.line(service.call(arguments.get("json")));
    return kDone;
  }
  view::ServerOptions options;
  options.address = arguments.get("listen", options.address);
  options.port = static_cast<std::uint16_t>(arguments.number("port", 0, 0, 65535));
  options.hosts = arguments.all("host");
  const view::Page page = view::live_page(paths.front());
  const view::Server server(service, page, options);
  session.line(server.url());
  session.flush();
  session.remark("shown at this link until Ctrl-C");
  if (session.screen().terminal && has_screen() && !arguments.has("no-browser")) open_browser(server.url_once());
  for (;;) ::pause();  // interrupts.cpp ends the process
}

constexpr Operand kOperands[] = {{.name = "MODEL", .completes = Completes::files},
                                 {.name = "OTHER", .required = false, .completes = Completes::files}};
constexpr Option kOptions[] = {
    {.name = "port", .value = "N", .help = "listen on this port; by default on one that is free"},
    {.name = "listen",
     .value = "ADDRESS",
     .help = "listen on this address, which others may reach; 127.0.0.1 by default"},
    {.name = "host",
     .value = "NAME",
     .help = "answer requests that address the server by this name, too; may be given several times",
     .repeatable = true},
    {.name = "no-browser", .help = "print the link and open nothing"},
    {.name = "json",
     .value = "REQUEST",
     .help = "print the answer to one request, such as 'tensors?sort=bytes', and end"},
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare view model.gguf", "prints a link, and opens it if there is a browser"},
    {"tare view model.safetensors model.gguf", "what a conversion or a quantization changed"},
    {"tare view model.zt --json 'numbers?tensor=lm_head.weight' | jq .outliers", "one answer, for a script"},
};

}  // namespace

constexpr Verb kVerb{.name = "view",
                     .summary = "look at a model in a browser",
                     .description =
                         "Starts a server on this machine and prints the link of a page that shows the model: what it "
                         "is, what takes how many "
                         "bytes, which layers differ, what lies where in the file, the values of every tensor, the "
                         "vocabulary, the metadata, and "
                         "what `verify` finds. With OTHER, also what differs between the two. The server decodes and "
                         "reduces; nothing is "
                         "loaded as a whole, and nothing leaves the machine. Ctrl-C ends it.\n\n"
                         "The link has a secret in it: who has it can look at the model as long as the server runs. "
                         "Others on the network "
                         "cannot reach the server unless --listen says so.",
                     .operands = kOperands,
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::view_verb
