#include "view/clients.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>

#include "view/query.hpp"

namespace tare::view {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr unsigned kMostClients = 256, kFewestClients = 4;
constexpr std::size_t kManyClients = 64;
// How long a client may take to send its request, unless there are many and it has not sent the token.
constexpr seconds kSendingPatience{10};
constexpr std::size_t kMostUnreceived = 64 << 20;  // bytes of answers, of all clients
// Bytes of a request's target that are kept: enough to see that it is too long.
constexpr std::size_t kMostKept = kMostTarget + 256;

// Connections take at most half of the files that the process may open; the model and its temporary files need the
// others.
unsigned most_clients() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMostClients;
  return static_cast<unsigned>(std::clamp<rlim_t>(files.rlim_cur / 4, kFewestClients, kMostClients));
}

bool is_open(const Client& client) { return client.descriptor >= 0; }

// The descriptor still belongs to the client: the library closes it only after it has reported the end of the
// connection.
void shut_down(Client& client) {
  ::shutdown(client.descriptor, SHUT_RDWR);
  client.descriptor = -1;
}

}  // namespace

Clients::Clients(std::chrono::seconds short_patience) : most_(most_clients()), short_patience_(short_patience) {}

Client* Clients::connect(int descriptor) {
  const std::scoped_lock lock(mutex_);
  Client& client = clients_.emplace_back();
  client.descriptor = descriptor;
  close_idlest(client);
  return &client;
}

void Clients::disconnect(const Client* client) {
  const std::scoped_lock lock(mutex_);
  clients_.remove_if([&](const Client& other) { return &other == client; });
}

// If all places are taken, closes the connection that has been idle longest, preferring clients that have not sent the
// token. The newcomer is refused only if all others wait for an answer. Needs the mutex.
void Clients::close_idlest(const Client& newcomer) {
  if (static_cast<std::size_t>(std::ranges::count_if(clients_, is_open)) <= most_) return;
  const auto oldest = [&](const auto& is_meant) {
    Client* found = nullptr;
    for (Client& client : clients_)
      if (is_open(client) && &client != &newcomer && client.state != Client::State::waits && is_meant(client) &&
          (found == nullptr || client.since < found->since))
        found = &client;
    return found;
  };
  Client* closed =
      oldest([](const Client& client) { return !client.has_token && client.state == Client::State::sends_request; });
  if (closed == nullptr)
    closed = oldest([](const Client& client) { return client.state == Client::State::receives_answer; });
  if (closed == nullptr) closed = oldest([](const Client&) { return true; });
  shut_down(closed == nullptr ? clients_.back() : *closed);
}

Request* Clients::begin(Client* client, std::string_view target) {
  if (client == nullptr) return nullptr;
  auto request = std::make_unique<Request>();
  request->target = target.substr(0, kMostKept);
  const std::scoped_lock lock(mutex_);
  client->request.swap(request);
  return client->request.get();
}

void Clients::end(Client* client) {
  if (client == nullptr) return;
  set_state(client, Client::State::sends_request);
  std::unique_ptr<Request> ended;
  const std::scoped_lock lock(mutex_);
  ended = std::move(client->request);
}

void Clients::set_state(Client* client, Client::State state) {
  if (client == nullptr) return;
  const std::scoped_lock lock(mutex_);
  client->state = state;
  client->since = Clock::now();
  if (state == Client::State::sends_request) client->unreceived = 0;
}

void Clients::mark_token_sent(Client* client) {
  if (client == nullptr) return;
  const std::scoped_lock lock(mutex_);
  client->has_token = true;
}

void Clients::add_unreceived(Client* client, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (client != nullptr) client->unreceived = bytes;
  std::size_t all = 0;
  for (const Client& other : clients_) all += is_open(other) ? other.unreceived : 0;
  while (all > kMostUnreceived) {
    Client* slowest = nullptr;
    for (Client& other : clients_)
      if (&other != client && is_open(other) && other.unreceived > 0 &&
          (slowest == nullptr || other.since < slowest->since))
        slowest = &other;
    if (slowest == nullptr) return;
    all -= slowest->unreceived;
    shut_down(*slowest);
  }
}

void Clients::close_slow() {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  const bool many = clients_.size() > kManyClients;
  for (const Client& client : clients_) {
    const seconds patience = many && !client.has_token ? short_patience_ : kSendingPatience;
    const bool late = (client.state == Client::State::sends_request && now - client.since > patience) ||
                      (client.state == Client::State::receives_answer && now - client.since > kReceivingPatience);
    if (late && is_open(client)) ::shutdown(client.descriptor, SHUT_RDWR);
  }
}

std::size_t Clients::requests() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [](const Client& client) { return client.request != nullptr; }));
}

}  // namespace tare::view
