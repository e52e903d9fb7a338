// view: shows a model in a browser.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/browser.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "view/access_control.hpp"
#include "view/page.hpp"
#include "view/server.hpp"
#include "view/service.hpp"

namespace tare::cli::view_verb {
namespace {

// The time for a browser to show the page, in pauses: 60 seconds.
constexpr int kPatience = 600;
constexpr std::chrono::milliseconds kPause{100};

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

int run(const Arguments& arguments, Session& session) {
  const std::vector<std::string> paths(arguments.operands().begin(), arguments.operands().end());
  view::Service service(paths, read_options(arguments));
  if (arguments.has("json")) {
    session.line(service.call_and_wait(arguments.get("json")));
    return kDone;
  }
  view::ServerOptions options;
  options.address = arguments.get("listen", options.address);
  options.port = static_cast<std::uint16_t>(arguments.number("port", 0, 0, 65535));
  options.hosts = arguments.all("host");
  for (const std::string& host : options.hosts) {
    try {
      static_cast<void>(view::spelled_host(host, options.port));
    } catch (const Error& error) {
      throw UsageError("--host: " + std::string(error.sentence()));
    }
  }
  options.other_host =
      "the request is addressed to a host by whose name this server does not answer; open the link as it was printed, "
      "or "
      "start `tare view` with --host NAME to be reached by that name, with --host NAME:PORT if the port is another "
      "one, "
      "as through a tunnel";
  const view::Page page = view::live_page(paths.front());
  const view::Server server(service, page, options);
  for (const std::string& link : server.urls()) session.line(link);
  session.flush();
  if (!is_loopback(options.address))
    session.remark(
        "others on the network can reach it, and listen in: the link and the model travel as they are; --host NAME "
        "lets "
        "them address it by a name");
  std::vector<std::string> names;
  for (const view::OpenModelPtr& model : service.models()) names.push_back(model->name());
  session.remark(fmt::format("serving {}; press Ctrl-C to stop", fmt::join(names, " and ")));
  if (session.screen().terminal && has_browser() && !arguments.has("no-browser")) {
    try {
      const LinkPage page_for_browser(server.urls().front());
      if (open_browser(page_for_browser.link()))
        for (int i = 0; i < kPatience && !server.was_shown(); ++i) std::this_thread::sleep_for(kPause);
    } catch (const Error& error) {
      session.remark(error.what());  // the link was already printed
    }
  }
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
     .help = "answer requests that address the server by this name (or NAME:PORT, as through a tunnel), too; may be "
             "given several times",
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
                         "bytes, which layers differ, what is where in the file, the values of every tensor, the "
                         "vocabulary, the metadata, and "
                         "what `verify` finds. With OTHER, also what differs between the two. The server decodes and "
                         "reduces; nothing is "
                         "loaded as a whole, and nothing leaves the machine. Ctrl-C ends it.\n\n"
                         "The link has a secret in it: anyone with the link can see the model while the server runs. "
                         "Others on the network "
                         "cannot reach the server unless --listen says so.",
                     .operands = kOperands,
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::view_verb
