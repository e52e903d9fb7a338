#include "view/server.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <utility>

#include "view/access_control.hpp"
#include "view/clients.hpp"
#include "view/http_library.hpp"
#include "view/listening.hpp"
#include "view/workers.hpp"

namespace tare::view {
namespace {

constexpr double kRequestsPerSecond = 200, kBurst = 400;

}  // namespace

// All its functions run on the library's thread.
struct Server::State {
  const HttpLibrary& http = http_library();
  const Page& page;
  const std::string token = random_token();
  const ListeningSocket socket;
  const std::vector<std::string> links;
  const AccessControl access_control;
  Rate rate{kRequestsPerSecond, kBurst};
  MHD_Daemon* daemon = nullptr;
  std::atomic<bool> was_shown = false;
  Clients clients;
  Workers workers;

  State(Service& service, const Page& its_page, const ServerOptions& options)
      : page(its_page),
        socket(listen_on(options)),
        links(links_to(socket, token)),
        access_control(token, host_names(socket, options.hosts), options.other_host),
        clients(options.short_patience),
        workers(http, service) {
    service.expect_requests();
  }

  // Also runs if the server could only be started partly.
  ~State() {
    workers.stop();
    if (daemon != nullptr)
      http.stop_daemon(daemon);
    else
      ::close(socket.descriptor);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start_daemon(const ServerOptions& options);

  Client* client_of(MHD_Connection* connection) const {
    const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr : static_cast<Client*>(info->socket_context);
  }

  // Throws std::bad_alloc.
  Client* connect(MHD_Connection* connection) {
    const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return clients.connect(info == nullptr ? -1 : info->connect_fd);
  }

  // `body` must outlive the request.
  // `policy`: of a page; null for JSON.
  MHD_Result reply(MHD_Connection* connection, int status, const std::string& body, const char* policy = nullptr,
                   const char* allowed = "POST") {
    clients.set_state(client_of(connection), Client::State::receives_answer);
    MHD_Response* const response =
        http.create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) return MHD_NO;
    const auto header = [&](const char* name, const char* value) { http.add_response_header(response, name, value); };
    header("Content-Type", policy != nullptr ? "text/html; charset=utf-8" : "application/json; charset=utf-8");
    header("Content-Security-Policy", policy != nullptr ? policy : "default-src 'none'; frame-ancestors 'none'");
    header("X-Content-Type-Options", "nosniff");
    header("X-Frame-Options", "DENY");
    header("Referrer-Policy", "no-referrer");
    header("Cross-Origin-Resource-Policy", "same-origin");
    header("Cross-Origin-Opener-Policy", "same-origin");
    header("Cache-Control", "no-store");
    if (status == 405) header("Allow", allowed);
    const MHD_Result result = http.queue_response(connection, static_cast<unsigned>(status), response);
    http.destroy_response(response);
    return result;
  }

  // Throws std::bad_alloc.
  Head head_of(MHD_Connection* connection, const char* method, const Request& request) const {
    struct Gathered {
      Head head;
      bool failed = false;
    } gathered;
    gathered.head.method = method;
    gathered.head.target = request.target;
    http.get_connection_values(
        connection, MHD_HEADER_KIND,
        [](void* to, MHD_ValueKind, const char* key, const char* value) {
          Head& out = static_cast<Gathered*>(to)->head;
          const std::string_view text = value == nullptr ? "" : value;
          try {  // no exception may pass through the library
            if (::strcasecmp(key, "Host") == 0) out.hosts.push_back(text);
            if (::strcasecmp(key, "Origin") == 0) out.origins.push_back(text);
          } catch (...) {
            static_cast<Gathered*>(to)->failed = true;
            return MHD_NO;
          }
          if (::strcasecmp(key, "Sec-Fetch-Site") == 0) out.site = text;
          if (::strcasecmp(key, "Accept") == 0 && text.find("text/html") != text.npos) out.accepts_page = true;
          if (::strcasecmp(key, "Transfer-Encoding") == 0) out.body_bytes = 1;
          if (::strcasecmp(key, "Content-Length") == 0 && text != "0") out.body_bytes = 1;
          return MHD_YES;
        },
        &gathered);
    if (gathered.failed) throw std::bad_alloc();
    return std::move(gathered.head);
  }

  MHD_Result refuse(MHD_Connection* connection, Request& request, const Refusal& why) {
    constexpr const char* kAllowed = "GET, HEAD, POST";
    if (request.accepts_page) {
      Page refusal = refusal_page(why.status, why.rule, why.sentence);
      request.answer = {why.status, std::move(refusal.html)};
      return reply(connection, why.status, request.answer.body, refusal.policy.c_str(), kAllowed);
    }
    request.answer = error_answer(why.status, why.kind, why.rule, why.sentence);
    return reply(connection, request.answer.status, request.answer.body, nullptr, kAllowed);
  }

  MHD_Result redirect(MHD_Connection* connection) {
    clients.set_state(client_of(connection), Client::State::receives_answer);
    MHD_Response* const response = http.create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) return MHD_NO;
    http.add_response_header(response, "Location", ("/" + token + "/").c_str());
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    http.add_response_header(response, "Cache-Control", "no-store");
    const MHD_Result result = http.queue_response(connection, 308, response);
    http.destroy_response(response);
    return result;
  }

  // The library calls this when the head of a request has arrived, when the request is complete, and when its
  // connection is resumed.
  MHD_Result access(MHD_Connection* connection, const char* method, Request& request) {
    if (!request.begun) {
      request.begun = true;
      clients.set_state(client_of(connection), Client::State::waits);
      const Head head = head_of(connection, method, request);
      request.accepts_page = head.accepts_page;
      if (const auto why = access_control.refuse(head, request.admission))
        return why->status == 308 ? redirect(connection) : refuse(connection, request, *why);
      clients.mark_token_sent(client_of(connection));
      if (!rate.admit(Rate::Clock::now()))
        return refuse(connection, request, {429, "view.rate", "too many requests in a second"});
      return MHD_YES;
    }
    if (request.admission.kind == RequestKind::page) {
      was_shown.store(true, std::memory_order_relaxed);
      return reply(connection, 200, page.html, page.policy.c_str());
    }
    if (request.ready) {
      clients.add_unreceived(client_of(connection), request.answer.body.size());
      return reply(connection, request.answer.status, request.answer.body);
    }
    if (request.queued) return MHD_YES;
    request.queued = true;
    if (workers.enqueue(connection, request)) return MHD_YES;
    return refuse(connection, request, {503, "view.busy", "too many requests are waiting", ErrorKind::limit});
  }
};

// No exception may pass through the library.
void Server::State::start_daemon(const ServerOptions& options) {
  const auto on_access = [](void* self, MHD_Connection* connection, const char*, const char* method, const char*,
                            const char*, std::size_t* upload, void** context) -> MHD_Result {
    auto* const request = static_cast<Request*>(*context);
    if (request == nullptr) return MHD_NO;
    if (*upload != 0) return MHD_NO;  // the request has a body after all
    try {
      return static_cast<State*>(self)->access(connection, method, *request);
    } catch (...) {
      return MHD_NO;
    }
  };
  const auto on_begin = [](void* self, const char* target, MHD_Connection* connection) -> void* {
    State& state = *static_cast<State*>(self);
    try {
      return state.clients.begin(state.client_of(connection), target);
    } catch (...) {
      return nullptr;
    }
  };
  const auto on_end = [](void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode) {
    State& state = *static_cast<State*>(self);
    *context = nullptr;
    state.clients.end(state.client_of(connection));
  };
  const auto on_connection = [](void* self, MHD_Connection* connection, void** context,
                                MHD_ConnectionNotificationCode code) {
    State& state = *static_cast<State*>(self);
    Client* const ended = code == MHD_CONNECTION_NOTIFY_CLOSED ? static_cast<Client*>(*context) : nullptr;
    *context = nullptr;
    if (ended != nullptr) state.clients.disconnect(ended);
    if (code != MHD_CONNECTION_NOTIFY_STARTED) return;
    try {
      *context = state.connect(connection);
    } catch (...) {  // only the library's own idle limit watches this connection
    }
  };
  daemon = http.start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
      static_cast<MHD_AccessHandlerCallback>(on_access), this, MHD_OPTION_LISTEN_SOCKET, socket.descriptor,
      MHD_OPTION_CONNECTION_LIMIT, clients.most_connections(), MHD_OPTION_CONNECTION_MEMORY_LIMIT, kClientMemory,
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(kReceivingPatience.count()), MHD_OPTION_URI_LOG_CALLBACK,
      static_cast<void* (*)(void*, const char*, MHD_Connection*)>(on_begin), this, MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(on_end), this, MHD_OPTION_NOTIFY_CONNECTION,
      static_cast<MHD_NotifyConnectionCallback>(on_connection), this, MHD_OPTION_END);
  if (daemon == nullptr) throw cannot_listen(options, "the server did not start");
}

Server::Server(Service& service, const Page& page, const ServerOptions& options)
    : state_(std::make_unique<State>(service, page, options)) {
  state_->start_daemon(options);
  state_->workers.start([&clients = state_->clients] { clients.close_slow(); });
}

Server::~Server() = default;

const std::vector<std::string>& Server::urls() const { return state_->links; }

Load Server::load() const {
  const QueueLoad memory = state_->workers.load(false), data = state_->workers.load(true);
  return {memory.waiting, memory.running, data.waiting, data.running, data.stopping, state_->clients.requests()};
}

bool Server::was_shown() const { return state_->was_shown.load(std::memory_order_relaxed); }

}  // namespace tare::view
