#include "formats/torch/objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/registry_limits.hpp"
#include "model/byte_swap.hpp"

namespace tare::torch {
namespace {

using Made = ObjectMaker::Made;

constexpr std::string_view kBuiltins = "builtins", kOldBuiltins = "__builtin__";

std::string_view module_now(std::string_view module) { return module == kOldBuiltins ? kBuiltins : module; }

// Returns whether torch.load allows the global with weights_only=True, and an ObjectMaker can make it.
bool is_allowed(std::string_view module, std::string_view name, Meaning meaning) {
  switch (meaning) {
    case Meaning::tensor:
    case Meaning::tensor_v2:
    case Meaning::tensor_v3:
    case Meaning::parameter:
    case Meaning::quantized:
    case Meaning::size:
    case Meaning::text_of:
    case Meaning::encoded:
    case Meaning::storage:
    case Meaning::element:
    case Meaning::scheme: return true;
    case Meaning::sparse: return name == "_rebuild_sparse_tensor";
    case Meaning::typed_tensor: return name == "_rebuild_from_type_v2";
    case Meaning::other_tensor: return name == "_rebuild_meta_tensor_no_storage";
    case Meaning::dict: return name == "OrderedDict" || name == "Counter";
    case Meaning::list: return name == "set";
    case Meaning::copied: return name == "bytearray" || name == "complex";
    case Meaning::type: return name != "Buffer";
    case Meaning::name: return module == "torch";  // element types that Tare does not read
    default: return false;
  }
}

// Calls that return a mapping, to which items can be added later.
bool is_mapping(std::string_view name) { return name == "OrderedDict" || name == "Counter"; }

class ObjectReader {
 public:
  ObjectReader(const Content& content, ObjectMaker& maker)
      : content_(content),
        p_(content.pickle),
        maker_(maker),
        meanings_(meanings_of(content.pickle)),
        made_(p_.nodes(), kNotYet),
        weights_(p_.nodes(), 0) {}

  Made run() {
    for (std::size_t i = 0; i < meanings_.size(); ++i) {
      const Pickle::Global& global = p_.globals()[i];
      if (!is_allowed(global.module, global.name, meanings_[i]))
        throw Error(ErrorKind::unsupported, "torch.global.refused",
                    "torch.load refuses it with weights_only=True; the tensors of the file can be read without it")
            .at(global.at)
            .about(fmt::format("{}.{}", quote(global.module), quote(global.name)));
    }
    return make(p_.root(), 0);
  }

 private:
  static constexpr Made kNotYet = 0xffffffff;
  // Python's hashes of numbers and tuples are not randomized: many keys can be chosen to collide, and then each is
  // compared with all others.
  static constexpr std::uint64_t kMostForgeable = 1 << 14;
  static constexpr std::uint64_t kMostWeight = std::uint64_t{1} << 40;  // more steps than any file is granted

  [[noreturn]] void fail(std::string_view rule, const std::string& sentence, Ref at,
                         ErrorKind kind = ErrorKind::corrupt) const {
    Error error(kind, rule, sentence);
    if (p_.at(at) != 0) error.at(p_.at(at));
    throw error;
  }

  Made make(Ref ref, unsigned depth) {
    if (made_[ref] != kNotYet) return made_[ref];
    if (depth > content_.options.limits.depth)
      fail("torch.tree.depth",
           fmt::format("more than {} collections inside of each other", content_.options.limits.depth), ref,
           ErrorKind::limit);
    switch (p_.kind(ref)) {
      case PickleKind::list: return made_list(ref, depth);
      case PickleKind::dict: made_[ref] = maker_.dict(); return filled(ref, depth);
      case PickleKind::set: return made_set(ref, depth);
      case PickleKind::tuple: {
        const std::vector<Made> items = all_of(p_.tuple(ref), depth);
        return once(ref, [&] { return maker_.tuple(items); });
      }
      case PickleKind::global: return made_[ref] = maker_.constant(module_of(ref), p_.name_of(ref));
      case PickleKind::persistent: return made_[ref] = maker_.storage(storage_id(content_, meanings_, ref));
      case PickleKind::call: return made_call(ref, depth);
      default: return made_[ref] = maker_.value(p_, ref);
    }
  }
  std::vector<Made> all_of(std::span<const Ref> refs, unsigned depth) {
    std::vector<Made> all;
    all.reserve(refs.size());
    for (const Ref ref : refs) all.push_back(make(ref, depth + 1));
    return all;
  }
  // A tuple or the result of a call may already have been made while a list inside it was filled.
  template <typename Make>
  Made once(Ref ref, const Make& making) {
    if (made_[ref] == kNotYet) made_[ref] = making();
    return made_[ref];
  }

  Made made_list(Ref ref, unsigned depth) {
    const Made list = made_[ref] = maker_.list();
    p_.each_item(ref, [&](Ref item) { maker_.append(list, make(item, depth + 1)); });
    return list;
  }
  Made made_set(Ref ref, unsigned depth) {
    const Made set = made_[ref] = maker_.set();
    p_.each_item(ref, [&](Ref item) {
      charge_key(item);
      if (!maker_.add(set, make(item, depth + 1))) fail("torch.key", "a member of a set that can be changed", item);
    });
    return set;
  }
  Made filled(Ref ref, unsigned depth) {
    const Made dict = made_[ref];
    p_.each_pair(ref, [&](Ref key, Ref value) {
      charge_key(key);
      const Made made_key = make(key, depth + 1);
      if (!maker_.set_item(dict, made_key, make(value, depth + 1)))
        fail("torch.key", "a key of a dict that can be changed", key);
    });
    return dict;
  }

  // ---- keys ----

  // Returns the number of values in a tuple, counted at each use, which is what hashing it costs.
  std::uint64_t weight(Ref ref, unsigned depth) {
    if (p_.kind(ref) == PickleKind::large) return 1 + p_.text(ref).size() / 8;
    if (p_.kind(ref) != PickleKind::tuple || depth > content_.options.limits.depth) return 1;
    if (weights_[ref] != 0) return weights_[ref];
    std::uint64_t sum = 1;
    for (const Ref item : p_.tuple(ref)) sum = std::min(kMostWeight, sum + weight(item, depth + 1));
    return weights_[ref] = sum;
  }
  void charge_key(Ref key) {
    const PickleKind kind = p_.kind(key);
    if (kind == PickleKind::text || kind == PickleKind::integer) return;
    charge_steps(weight(key, 0));
    const bool forgeable = kind == PickleKind::tuple || kind == PickleKind::large || kind == PickleKind::call;
    if (forgeable && ++forgeable_ > kMostForgeable)
      fail("torch.tree.large", fmt::format("more than {} keys that are tuples or large numbers", kMostForgeable), key,
           ErrorKind::limit);
  }

  // ---- calls ----

  std::string_view module_of(Ref global) const { return module_now(p_.module_of(global)); }
  Meaning meaning_of_global(Ref ref) const {
    return p_.kind(ref) == PickleKind::global ? meanings_[p_.number_of(ref)] : Meaning::unknown;
  }

  Made made_call(Ref ref, unsigned depth) {
    const Ref callable = p_.callable(ref);
    if (p_.kind(callable) != PickleKind::global) fail("torch.value", "a call of something that is not a name", ref);
    const Made made = called(callable, p_.arguments(ref), ref, depth);
    once(ref, [&] { return made; });
    if (is_mapping(p_.name_of(callable)))
      filled(ref, depth);
    else
      p_.each_pair(ref, [&](Ref, Ref) { fail("torch.value", "keys for something that is not a dict", ref); });
    p_.each_item(ref, [&](Ref) { fail("torch.value", "items for something that is not a list", ref); });
    p_.each_state(ref, [&](Ref state) { maker_.set_state(made_[ref], make(state, depth + 1), p_.at(ref)); });
    return made_[ref];
  }

  Made called(Ref callable, Ref arguments, Ref ref, unsigned depth) {
    const std::span<const Ref> given = p_.tuple(arguments);
    switch (const Meaning meaning = meaning_of_global(callable)) {
      case Meaning::tensor:
      case Meaning::tensor_v2:
      case Meaning::tensor_v3:
        return maker_.dense(dense_call(content_, meanings_, meaning, arguments, ref), p_.at(ref));
      case Meaning::typed_tensor: {
        // The inner call is given as a name and its arguments.
        if (given.size() != 4 || !makes_tensor(meaning_of_global(given[0])) || p_.kind(given[2]) != PickleKind::tuple ||
            meaning_of_global(given[1]) != Meaning::type || meaning_of_global(given[0]) == Meaning::typed_tensor)
          fail("torch.tensor.form", "a tensor of a type, made by no call that rebuilds one", ref);
        const Made parts[] = {called(given[0], given[2], ref, depth + 1), make(given[1], depth + 1),
                              make(given[3], depth + 1)};
        return maker_.call(module_of(callable), p_.name_of(callable), parts, p_.at(ref));
      }
      case Meaning::quantized: check_quantized(content_, meanings_, arguments, ref); break;
      case Meaning::type:
      case Meaning::storage:
      case Meaning::element:
      case Meaning::scheme:
      case Meaning::name: fail("torch.value", fmt::format("{} is called", p_.name_of(callable)), ref);
      default: break;
    }
    const std::vector<Made> items = all_of(given, depth);
    if (made_[ref] != kNotYet) return made_[ref];
    if (is_mapping(p_.name_of(callable)) || meaning_of_global(callable) == Meaning::list)
      for (const Ref item : given) charge_members(item);
    return maker_.call(module_of(callable), p_.name_of(callable), items, p_.at(ref));
  }
  // Charges for the members of set([...]) and OrderedDict([[key, value], ...]) that become keys.
  void charge_members(Ref given) {
    const auto charge = [&](Ref member) {
      charge_key(member);
      if (p_.kind(member) == PickleKind::tuple && !p_.tuple(member).empty()) charge_key(p_.tuple(member)[0]);
      if (p_.kind(member) == PickleKind::list) {
        bool first = true;
        p_.each_item(member, [&](Ref key) {
          if (std::exchange(first, false)) charge_key(key);
        });
      }
    };
    p_.each_item(given, charge);
    p_.each_pair(given, [&](Ref key, Ref) { charge(key); });
    if (p_.kind(given) == PickleKind::tuple) std::ranges::for_each(p_.tuple(given), charge);
  }

  const Content& content_;
  const Pickle& p_;
  ObjectMaker& maker_;
  std::vector<Meaning> meanings_;
  std::vector<Made> made_;              // per value of the pickle
  std::vector<std::uint64_t> weights_;  // per value of the pickle; 0: not counted yet
  std::uint64_t forgeable_ = 0;
};

}  // namespace

Made make_objects(const Content& content, ObjectMaker& maker) { return ObjectReader(content, maker).run(); }

std::vector<Tensor> storages_of(const Content& content) {
  const std::vector<Meaning> meanings = meanings_of(content.pickle);
  std::vector<Tensor> tensors;
  NameSet seen;
  for (Ref ref = 0; ref < content.pickle.nodes(); ++ref) {
    if (content.pickle.kind(ref) != PickleKind::persistent) continue;
    const StorageId id = storage_id(content, meanings, ref);
    if (!seen.insert(std::string(id.key)).second) continue;
    Blob blob = content.storages.find(id.key)->blob;
    const ElementType& type = *find_storage(id.type);
    if (content.storages.swapped() && size_of(type.dtype) > 1)
      blob = byte_swapped_blob(std::move(blob), size_of(type.dtype));
    const std::uint64_t bytes = blob.size();
    tensors.push_back(dense(std::string(id.key), Shape{bytes}, DType::u8, std::move(blob)));
  }
  return tensors;
}

void read_objects(const SourcePtr& source, const ReadOptions& options, const std::function<void(const Content&)>& use) {
  const Spending spending(allowance_of(options.limits));
  grant_source(*source);
  const auto pass_on = [&](const Content& content, Model&) {
    try {
      use(content);
    } catch (Error& error) {
      error.in(source->name());
      throw;
    }
  };
  if (is_archive(*source))
    static_cast<void>(read_archive(source, options, true, pass_on));
  else
    static_cast<void>(read_legacy(source, options, pass_on));
}

}  // namespace tare::torch
