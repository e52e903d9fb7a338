#include "session.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "buffer.hpp"
#include "model.hpp"
#include "run_job.hpp"
#include "start.hpp"

namespace tare::py {
namespace {

constexpr const char *kSession = "tare.run.session", *kSampler = "tare.run.sampler";

struct Held {
  std::unique_ptr<const run::Scorer> scorer;
  std::optional<run::Session> session;  // once it has been opened
  std::mutex mutex;                     // held during every call
  const pid_t process = ::getpid();
};

template <typename Type>
Type& from_capsule(PyObject* capsule, const char* name) {
  void* const pointer = PyCapsule_GetPointer(capsule, name);
  if (pointer == nullptr) throw PythonError();
  return *static_cast<Type*>(pointer);
}

// The threads of a session do not exist in a child of fork, which would wait for them.
void destroy_session(PyObject* capsule) {
  auto* const held = static_cast<Held*>(PyCapsule_GetPointer(capsule, kSession));
  if (held->process != ::getpid()) return;
  const Unlocked others;
  delete held;
}
void destroy_sampler(PyObject* capsule) { delete static_cast<run::Sampler*>(PyCapsule_GetPointer(capsule, kSampler)); }

// Runs a job with the session of a capsule, unless another thread does.
void with_session(PyObject* capsule, PyObject* report, const std::function<void(Held&)>& work) {
  Held& held = from_capsule<Held>(capsule, kSession);
  if (held.process != ::getpid())
    throw Error(ErrorKind::usage, "python.fork", "a child of fork cannot use the session of its parent");
  const std::unique_lock lock(held.mutex, std::try_to_lock);
  if (!lock.owns_lock()) throw Error(ErrorKind::usage, "python.busy", "another thread uses the session");
  run_job(report, [&](Progress&) { work(held); });
}

Ref array_of(const std::vector<std::int32_t>& tokens) {
  return list_of(tokens, [](std::int32_t id) { return number(std::int64_t{id}); });
}

// _session(model): a scorer, for which a session can be opened.
PyObject* make_session(PyObject*, PyObject* object) {
  return guarded([&] {
    const auto model = complete_model_of(object);
    auto held = std::make_unique<Held>();
    run_job(Py_None, [&](Progress&) { held->scorer = std::make_unique<run::Scorer>(*model); });
    Ref made = Ref::take(PyCapsule_New(held.get(), kSession, destroy_session));
    static_cast<void>(held.release());
    return made;
  });
}

// _session_tokens(model, session, start, first): the tokens of a text, a conversation or an array.
PyObject* start_tokens(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *capsule = nullptr, *begin = nullptr;
    int first = 0;
    if (parse_tuple(args, "OOOp", &object, &capsule, &begin, &first) == 0) throw PythonError();
    const auto model = complete_model_of(object);
    const Start start = start_of(begin);
    std::vector<std::int32_t> tokens;
    with_session(capsule, Py_None, [&](Held& held) { tokens = start.tokens_for(*model, *held.scorer, first != 0); });
    return array_of(tokens);
  });
}

// _session_open(model, session, tokens, positions, quantized, threads, report): reads the weights, unless the model cannot
// take so many tokens.
PyObject* open_session(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *capsule = nullptr, *report = nullptr;
    unsigned long long tokens = 0, positions = 0;
    int fast = 0;
    unsigned threads = 0;
    if (parse_tuple(args, "OOKKpIO", &object, &capsule, &tokens, &positions, &fast, &threads, &report) == 0)
      throw PythonError();
    static_cast<void>(complete_model_of(object));
    with_session(capsule, report, [&](Held& held) {
      if (const std::uint64_t most = held.scorer->context(); most != 0 && tokens > most)
        throw Error(
            ErrorKind::usage, "run.context",
            "the start has " + std::to_string(tokens) + " tokens; there are " + std::to_string(most) + " positions");
      held.session.emplace(
          *held.scorer,
          run::SessionOptions{.positions = positions, .quantized = fast != 0, .work = {.threads = threads}});
    });
    return none();
  });
}

run::Session& opened(Held& held) {
  if (!held.session) throw Error(ErrorKind::usage, "python.closed", "the session has not been opened");
  return *held.session;
}

// _session_feed(model, session, tokens, report): the logits of the token after them
PyObject* feed_session(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *capsule = nullptr, *ids = nullptr, *report = nullptr;
    if (parse_tuple(args, "OOOO", &object, &capsule, &ids, &report) == 0) throw PythonError();
    static_cast<void>(complete_model_of(object));
    const std::vector<std::int32_t> tokens = tokens_of(ids);
    const auto logits = std::make_shared<std::vector<float>>();
    with_session(capsule, report, [&](Held& held) {
      const std::span<const float> found = opened(held).feed(tokens);
      logits->assign(found.begin(), found.end());
    });
    return make_buffer(std::as_bytes(std::span<const float>(*logits)), logits);
  });
}

// _session_next(model, session, sampler, tokens, report): the token after them, and whether it ends texts
PyObject* next_token(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *capsule = nullptr, *sampling = nullptr, *ids = nullptr, *report = nullptr;
    if (parse_tuple(args, "OOOOO", &object, &capsule, &sampling, &ids, &report) == 0) throw PythonError();
    static_cast<void>(complete_model_of(object));
    auto& sampler = from_capsule<run::Sampler>(sampling, kSampler);
    const std::vector<std::int32_t> tokens = tokens_of(ids);
    std::int32_t next = 0;
    with_session(capsule, report, [&](Held& held) { next = sampler.next(opened(held).feed(tokens)); });
    return number(std::int64_t{next});
  });
}

// _session_state(session): position, room
PyObject* session_state(PyObject*, PyObject* capsule) {
  return guarded([&] {
    std::uint64_t position = 0, room = 0;
    with_session(capsule, Py_None,
                 [&](Held& held) { position = opened(held).position(), room = held.session->room(); });
    return Ref::take(PyTuple_Pack(2, number(position).get(), number(room).get()));
  });
}

// _session_rewind(session, position)
PyObject* rewind_session(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    unsigned long long position = 0;
    if (parse_tuple(args, "OK", &capsule, &position) == 0) throw PythonError();
    with_session(capsule, Py_None, [&](Held& held) { opened(held).rewind(position); });
    return none();
  });
}

// _session_stops(session): the tokens that end texts by the model's files
PyObject* session_stops(PyObject*, PyObject* capsule) {
  return guarded([&] {
    std::vector<std::int32_t> stops;
    with_session(capsule, Py_None, [&](Held& held) { stops = held.scorer->stop_tokens(); });
    return array_of(stops);
  });
}

// _session_text(session, tokens): their bytes, or None if the model has no tokenizer that is known
PyObject* session_text(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *ids = nullptr;
    if (parse_tuple(args, "OO", &capsule, &ids) == 0) throw PythonError();
    const std::vector<std::int32_t> tokens = tokens_of(ids);
    std::optional<std::string> words;
    with_session(capsule, Py_None, [&](Held& held) {
      try {
        words = run::continuation(held.scorer->tokenizer(), tokens);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::unsupported) throw;
      }
    });
    return words ? bytes(std::as_bytes(std::span<const char>(*words))) : none();
  });
}

// _sampler(temperature, top_k, top_p, min_p, seed)
PyObject* make_sampler(PyObject*, PyObject* args) {
  return guarded([&] {
    double temperature = 0, top_p = 1, min_p = 0;
    unsigned top_k = 0;
    unsigned long long seed = 0;
    if (parse_tuple(args, "dIddK", &temperature, &top_k, &top_p, &min_p, &seed) == 0) throw PythonError();
    auto sampler = std::make_unique<run::Sampler>(run::Sampling{.temperature = static_cast<float>(temperature),
                                                                .top_k = top_k,
                                                                .top_p = static_cast<float>(top_p),
                                                                .min_p = static_cast<float>(min_p),
                                                                .seed = seed});
    Ref made = Ref::take(PyCapsule_New(sampler.get(), kSampler, destroy_sampler));
    static_cast<void>(sampler.release());
    return made;
  });
}

PyMethodDef session_methods[] = {{"_session", make_session, METH_O, nullptr},
                                 {"_session_tokens", start_tokens, METH_VARARGS, nullptr},
                                 {"_session_open", open_session, METH_VARARGS, nullptr},
                                 {"_session_feed", feed_session, METH_VARARGS, nullptr},
                                 {"_session_next", next_token, METH_VARARGS, nullptr},
                                 {"_session_state", session_state, METH_O, nullptr},
                                 {"_session_rewind", rewind_session, METH_VARARGS, nullptr},
                                 {"_session_stops", session_stops, METH_O, nullptr},
                                 {"_session_text", session_text, METH_VARARGS, nullptr},
                                 {"_sampler", make_sampler, METH_VARARGS, nullptr},
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef* session_functions() { return session_methods; }

}  // namespace tare::py
