// Reads the root of a pickle: tensors are named by the keys that lead to them, joined by dots; everything else is
// metadata.
//
// A collection that contains a tensor at any depth is flattened; one that does not becomes one value of the metadata. A
// tree is walked as often as it is referred to, within the limits: a few kilobytes of nested lists can expand to more
// values than any machine can hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/budget.hpp"
#include "base/equal_names.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/torch/torch.hpp"

namespace tare::torch {
namespace {

class TreeReader {
 public:
  TreeReader(const Content& content, Model& model)
      : content_(content),
        p_(content.pickle),
        model_(model),
        meanings_(meanings_of(content.pickle)),
        holds_(p_.nodes()) {}

  void run() {
    const Ref root = p_.root();
    model_.tensors.reserve(content_.storages.size());  // most tensors have their own storage
    if (is_tensor(root)) {
      name_ = "tensor";
      add_tensor(root);
    } else if (is_collection(root)) {
      flatten(root, 0);
    } else if (content_.lone_values && !is_refused(root)) {
      name_ = kLoneValue;
      add_value(root, 0);
    } else {
      fail("torch.root", "neither a tensor nor a collection", root);
    }
    find_duplicates();
    report_ties();
    if (!module_versions_.empty()) model_.metadata.set("torch._metadata", std::move(module_versions_));
  }

 private:
  [[noreturn]] void fail(std::string_view rule, const std::string& sentence, Ref at,
                         ErrorKind kind = ErrorKind::corrupt) const {
    throw located(Error(kind, rule, sentence), at);
  }
  Error located(Error error, Ref at) const {
    if (p_.at(at) != 0) error.at(p_.at(at));
    return error.in(content_.source.name());
  }
  Meaning meaning(Ref ref) const {
    if (p_.kind(ref) != PickleKind::call || p_.kind(p_.callable(ref)) != PickleKind::global) return Meaning::unknown;
    return meanings_[p_.number_of(p_.callable(ref))];
  }
  bool is_tensor(Ref ref) const { return p_.kind(ref) == PickleKind::persistent || makes_tensor(meaning(ref)); }
  bool is_dict(Ref ref) const {
    return p_.kind(ref) == PickleKind::dict || meaning(ref) == Meaning::dict || meaning(ref) == Meaning::object;
  }
  bool is_collection(Ref ref) const {
    const PickleKind kind = p_.kind(ref);
    return kind == PickleKind::list || kind == PickleKind::tuple || kind == PickleKind::set || is_dict(ref) ||
           meaning(ref) == Meaning::list;
  }

  // Charges for a tree at each reference to it, so that a tree that contains itself comes to an end.
  template <typename Spend>
  void charge(Ref at, const Spend& spend) const {
    try {
      spend();
    } catch (Error& error) {
      throw located(error, at);
    }
  }
  void charge_step(Ref at) const {
    charge(at, [] { charge_steps(); });
  }
  void charge_value(Ref at, std::uint64_t count = 1) const {
    charge(at, [&] { charge_values(count); });
  }
  void charge_text(Ref at, std::uint64_t bytes) const {
    charge(at, [&] { charge_bytes(bytes); });
  }
  void check_depth(unsigned depth, Ref at) const {
    if (depth > content_.options.limits.depth)
      fail("torch.tree.depth",
           fmt::format("more than {} collections inside of each other, or one inside of itself",
                       content_.options.limits.depth),
           at, ErrorKind::limit);
  }

  // ---- collections ----

  // A value in a collection, with its key or number.
  struct Entry {
    Ref value;
    std::optional<Ref> key;
    std::uint64_t number = 0;
  };
  template <typename Visit>
  void each_entry(Ref ref, const Visit& visit) const {
    if (is_dict(ref)) {
      const auto pair = [&](Ref key, Ref value) { visit(Entry{value, key}); };
      each_dict_pair(ref, pair);
      return;
    }
    std::uint64_t number = 0;
    const auto item = [&](Ref value) { visit(Entry{value, std::nullopt, number++}); };
    if (p_.kind(ref) == PickleKind::tuple) {
      for (const Ref value : p_.tuple(ref)) item(value);
      return;
    }
    p_.each_item(ref, item);
    // For example set([...]), deque([...]), list((...)).
    if (p_.kind(ref) == PickleKind::call)
      for (const Ref argument : p_.tuple(p_.arguments(ref))) {
        charge_step(ref);
        if (p_.kind(argument) == PickleKind::list || p_.kind(argument) == PickleKind::set) p_.each_item(argument, item);
        if (p_.kind(argument) == PickleKind::tuple)
          for (const Ref value : p_.tuple(argument)) item(value);
      }
  }
  template <typename Visit>
  void each_dict_pair(Ref ref, const Visit& pair) const {
    p_.each_pair(ref, pair);
    if (p_.kind(ref) != PickleKind::call) return;
    // OrderedDict([[key, value], ...]) of Python 2, or Counter({...}).
    for (const Ref argument : p_.tuple(p_.arguments(ref))) {
      charge_step(ref);
      if (p_.kind(argument) == PickleKind::dict) p_.each_pair(argument, pair);
      if (p_.kind(argument) != PickleKind::list) continue;
      std::vector<Ref> two;
      p_.each_item(argument, [&](Ref entry) {
        two.clear();
        const auto take = [&](Ref part) {
          charge_step(ref);
          if (two.size() < 3) two.push_back(part);
        };
        charge_step(ref);
        if (p_.kind(entry) == PickleKind::tuple)
          std::ranges::for_each(p_.tuple(entry), take);
        else if (p_.kind(entry) == PickleKind::list)
          p_.each_item(entry, take);
        if (two.size() == 2) pair(two[0], two[1]);
      });
    }
    if (meaning(ref) == Meaning::object)
      p_.each_state(ref, [&](Ref state) {
        if (p_.kind(state) == PickleKind::dict) p_.each_pair(state, pair);
      });
  }
  // Appends the key to a name; returns false if it is neither text nor a number.
  bool append_key(std::string& name, const Entry& entry) const {
    if (!entry.key) {
      name += fmt::to_string(entry.number);
      return true;
    }
    switch (p_.kind(*entry.key)) {
      case PickleKind::text: name += p_.text(*entry.key); return true;
      case PickleKind::integer: name += fmt::to_string(p_.integer(*entry.key)); return true;
      case PickleKind::boolean: name += p_.boolean(*entry.key) ? "True" : "False"; return true;
      case PickleKind::none: name += "None"; return true;
      default: return false;
    }
  }
  // Keys of one collection that cannot be metadata keys. There is one remark for all of them, because there may be
  // millions.
  struct OmittedKeys {
    std::size_t count = 0;
    Ref first = 0;
    void add(Ref at) {
      if (count++ == 0) first = at;
    }
  };
  void report(const OmittedKeys& keys) const {
    if (keys.count == 0) return;
    const std::string what = keys.count == 1
                                 ? "a key that is neither text nor a whole number is"
                                 : fmt::format("{} keys that are neither text nor whole numbers are", keys.count);
    content_.diagnostics.ignored_value(located(
        Error(ErrorKind::unsupported, "torch.key.metadata", fmt::format("in \"{}\", {} omitted", quote(name_), what)),
        keys.first));
  }

  // Returns whether the value contains a tensor; looks at each value once.
  bool holds_tensor(Ref ref, unsigned depth) {
    enum : std::uint8_t { unseen, open, no, yes };
    if (is_tensor(ref)) return true;
    if (!is_collection(ref)) return false;
    if (holds_[ref] != unseen) return holds_[ref] == yes;
    check_depth(depth, ref);
    holds_[ref] = open;  // for a value that contains itself, the other values decide
    bool found = false;
    each_entry(ref, [&](const Entry& entry) {
      charge_step(ref);
      found = holds_tensor(entry.value, depth + 1) || found;
    });
    holds_[ref] = found ? yes : no;
    return found;
  }

  void flatten(Ref ref, unsigned depth) {
    check_depth(depth, ref);
    keep_module_versions(ref);
    OmittedKeys omitted;
    each_entry(ref, [&](const Entry& entry) {
      const Ref value = entry.value, at = entry.key.value_or(value);
      charge_step(at);
      const bool tensors = holds_tensor(value, depth + 1);
      const std::size_t length = name_.size();
      if (length > 0) name_.push_back('.');
      if (!append_key(name_, entry)) {
        name_.resize(length);
        if (tensors)
          fail("torch.key",
               fmt::format("in \"{}\", a key of tensors is neither text nor a whole number: they have no names",
                           quote(name_)),
               at, ErrorKind::unsupported);
        return omitted.add(at);
      }
      if (is_tensor(value))
        add_tensor(value);
      else if (tensors)
        flatten(value, depth + 1);
      else
        add_value(value, depth + 1);
      name_.resize(length);
    });
    report(omitted);
  }

  void add_tensor(Ref ref) {
    charge_text(ref, name_.size());
    charge_value(ref, kTensorPrice);  // a pickle can refer to one tensor in many places, with two bytes each
    Tensor tensor;
    try {
      tensor = rebuild(content_, meanings_, ref);
    } catch (Error& error) {
      error.in(content_.source.name()).about("tensor " + quote(name_));
      if (error.kind() == ErrorKind::io) throw;
      content_.diagnostics.tensor_error(error);
      BrokenTensor& broken = model_.broken.emplace_back(BrokenTensor{Tensor(), error});
      broken.tensor.name = name_;
      return;
    }
    // Its shape, and those and the strides of the views that are made of it.
    constexpr std::uint64_t kUsualRank = 4;  // included in the price of a tensor
    const std::uint64_t rank = tensor.shape.rank();
    if (rank > kUsualRank) charge_value(ref, 3 * (rank - kUsualRank) / 4);
    tensor.name = name_;
    model_.tensors.push_back(std::move(tensor));
  }

  void add_value(Ref ref, unsigned depth) {
    charge_text(ref, name_.size());
    if (is_refused(ref)) return;  // already reported
    if (model_.metadata.find(name_) != nullptr)
      fail("torch.name.duplicate", fmt::format("\"{}\" appears twice", quote(name_)), ref);
    charge_value(ref, kKeyPrice);
    model_.metadata.append(name_, value_of(ref, depth));
  }

  // ---- values ----

  // Returns whether it is a call or a global that is unknown or dangerous.
  bool is_refused(Ref ref) const {
    if (p_.kind(ref) == PickleKind::global) return meanings_[p_.number_of(ref)] <= Meaning::dangerous;
    return p_.kind(ref) == PickleKind::call && meaning(ref) <= Meaning::dangerous;
  }

  Value value_of(Ref ref, unsigned depth) {
    charge_value(ref);
    switch (p_.kind(ref)) {
      case PickleKind::none: return {};
      case PickleKind::boolean: return p_.boolean(ref);
      case PickleKind::integer: return p_.integer(ref);
      case PickleKind::large: return large_value(ref);
      case PickleKind::real: return p_.real(ref);
      case PickleKind::text: charge_text_of(ref); return p_.text(ref);
      case PickleKind::bytes: {
        charge_text_of(ref);
        const auto bytes = std::as_bytes(std::span(p_.text(ref)));
        return Bytes(bytes.begin(), bytes.end());
      }
      case PickleKind::global:
        charge_text(ref, p_.module_of(ref).size() + p_.name_of(ref).size());
        return fmt::format("{}.{}", escape_name(p_.module_of(ref)), escape_name(p_.name_of(ref)));
      case PickleKind::persistent: return {};
      default: break;
    }
    check_depth(depth, ref);
    if (is_dict(ref)) return map_of(ref, depth);
    if (is_collection(ref)) {
      List list;
      each_entry(ref, [&](const Entry& entry) {
        charge_step(ref);
        if (!is_refused(entry.value)) list.push_back(value_of(entry.value, depth + 1));
      });
      return list;
    }
    return call_value(ref, depth);
  }
  Map map_of(Ref ref, unsigned depth) {
    Map map;
    NameMap<std::string_view> kinds;  // types of keys that are not text
    OmittedKeys omitted;
    each_entry(ref, [&](const Entry& entry) {
      charge_step(ref);
      if (is_refused(entry.value)) return;
      std::string key;
      if (!append_key(key, entry)) return omitted.add(entry.value);
      charge_text(ref, key.size());
      charge_value(ref, kKeyPrice);
      Value value = value_of(entry.value, depth + 1);
      const std::string_view kind = word_for_key(entry);
      const auto other = kinds.find(key);
      const Value* const before = map.find(key);
      if (kind.empty() && other != kinds.end()) {
        add_second(map, key, other->second, *before, ref);
        kinds.erase(other);
      } else if (!kind.empty() && before != nullptr && other == kinds.end()) {
        return add_second(map, key, kind, std::move(value), ref);
      } else if (!kind.empty()) {
        kinds.insert_or_assign(key, kind);
      }
      map.set(key, std::move(value));
    });
    report(omitted);
    report_attributes(ref, "");
    return map;
  }
  // Returns Python's name for the type of a key that is not text.
  std::string_view word_for_key(const Entry& entry) const {
    if (!entry.key) return {};
    switch (p_.kind(*entry.key)) {
      case PickleKind::integer: return "int";
      case PickleKind::boolean: return "bool";
      case PickleKind::none: return "NoneType";
      default: return {};
    }
  }
  // 1 and "1" are different keys: the one that is not text becomes "1 (int)".
  void add_second(Map& map, const std::string& key, std::string_view kind, Value value, Ref at) const {
    const std::string name = fmt::format("{} ({})", key, kind);
    if (map.find(name) != nullptr)
      fail("torch.name.duplicate", fmt::format("in \"{}\", \"{}\" appears twice", quote(name_), quote(name)), at);
    map.set(name, std::move(value));
  }
  Value call_value(Ref ref, unsigned depth) {
    const std::span<const Ref> given = p_.tuple(p_.arguments(ref));
    switch (meaning(ref)) {
      case Meaning::encoded: return encoded_bytes(given, ref);
      case Meaning::text_of: return joined_text(given);
      case Meaning::member: return value_of(given[1], depth + 1);
      case Meaning::size:
      case Meaning::enumeration:
      case Meaning::copied:
        if (given.size() == 1) return value_of(given[0], depth + 1);
        break;
      default: break;
    }
    List list;
    for (const Ref value : given) {
      charge_step(ref);
      if (!is_refused(value)) list.push_back(value_of(value, depth + 1));
    }
    return list;
  }
  // Joins arguments: torch.device("cuda", 1) becomes "cuda:1".
  std::string joined_text(std::span<const Ref> given) {
    std::string text;
    for (const Ref part : given) {
      charge_step(part);
      if (p_.kind(part) == PickleKind::text) charge_text_of(part);
      if (!text.empty()) text.push_back(':');
      append_key(text, {part, part});
    }
    return text;
  }
  // Converts the characters of a text to bytes.
  Value encoded_bytes(std::span<const Ref> given, Ref at) {
    if (given.size() != 2 || p_.kind(given[0]) != PickleKind::text)
      fail("torch.value", "bytes that are not text with its encoding", at);
    charge_text_of(given[0]);
    Bytes bytes;
    const std::string_view text = p_.text(given[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto first = static_cast<unsigned char>(text[i]);
      const auto second = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
      if (first >= 0x80 && ((first & 0xFC) != 0xC0 || (second & 0xC0) != 0x80))
        fail("torch.value", "bytes as a text with characters beyond a byte", at);
      bytes.push_back(static_cast<std::byte>(first < 0x80 ? first : (first & 3) << 6 | (second & 0x3F)));
      if (first >= 0x80) ++i;
    }
    return bytes;
  }
  // Returns a uint64 if the number fits, decimal digits if it is not too long, and hexadecimal digits otherwise.
  Value large_value(Ref ref) {
    charge_text_of(ref);
    const std::string_view text = p_.text(ref);
    if (text.size() == 9 && text[8] == 0) {
      std::uint64_t value = 0;
      for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
      return value;
    }
    if (p_.is_decimal(ref)) return text;
    if (text.size() <= kLongestDecimal) return decimal_of(text);
    std::string reversed(text.rbegin(), text.rend());
    return "0x" + to_hex(std::as_bytes(std::span(reversed)));
  }
  // The time to convert bytes to decimal digits is quadratic, so longer numbers are not converted.
  static constexpr std::size_t kLongestDecimal = 64;
  // `bytes` are little-endian, in two's complement.
  static std::string decimal_of(std::string_view bytes) {
    constexpr std::uint64_t kDigits = 9, kBase = 1'000'000'000;
    std::vector<std::uint32_t> number((bytes.size() + 3) / 4);  // the magnitude, lowest word first
    const bool negative = (bytes.back() & 0x80) != 0;
    unsigned carry = negative ? 1 : 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const unsigned byte = (static_cast<unsigned char>(bytes[i]) ^ (negative ? 0xFFu : 0u)) + carry;
      number[i / 4] |= std::uint32_t{byte & 0xFF} << (8 * (i % 4));
      carry = byte >> 8;
    }
    std::string digits;  // lowest first
    for (;;) {
      while (!number.empty() && number.back() == 0) number.pop_back();
      if (number.empty()) break;
      std::uint64_t rest = 0;
      for (std::size_t i = number.size(); i-- > 0;) {
        rest = rest << 32 | number[i];
        number[i] = static_cast<std::uint32_t>(rest / kBase);
        rest %= kBase;
      }
      for (std::uint64_t digit = 0; digit < kDigits; ++digit, rest /= 10)
        digits.push_back(static_cast<char>('0' + rest % 10));
    }
    while (digits.ends_with('0')) digits.pop_back();
    std::ranges::reverse(digits);
    return negative ? "-" + digits : digits;
  }
  void charge_text_of(Ref ref) const { charge_text(ref, p_.text(ref).size()); }

  // Keeps the attribute that nn.Module.state_dict adds to its dict: the versions of the modules.
  void keep_module_versions(Ref ref) {
    if (meaning(ref) != Meaning::dict) return;
    report_attributes(ref, "_metadata");
    p_.each_state(ref, [&](Ref state) {
      if (p_.kind(state) != PickleKind::dict) return;
      p_.each_pair(state, [&](Ref key, Ref value) {
        charge_step(ref);
        if (p_.kind(key) != PickleKind::text || p_.text(key) != "_metadata" || is_refused(value)) return;
        charge_text(ref, name_.size());
        module_versions_.set(name_, value_of(value, 1));
      });
    });
  }

  // Reports omitted attributes of an OrderedDict, which it can have in addition to its items. `kept`: the one that is
  // kept.
  void report_attributes(Ref ref, std::string_view kept) const {
    if (meaning(ref) != Meaning::dict) return;
    std::uint64_t omitted = 0;
    p_.each_state(ref, [&](Ref state) {
      charge_step(ref);
      if (p_.kind(state) != PickleKind::dict) return void(++omitted);
      p_.each_pair(state, [&](Ref key, Ref) {
        charge_step(ref);
        if (kept.empty() || p_.kind(key) != PickleKind::text || p_.text(key) != kept) ++omitted;
      });
    });
    if (omitted > 0)
      content_.diagnostics.ignored_value(
          located(Error(ErrorKind::unsupported, "torch.attribute",
                        fmt::format("attributes of the dict \"{}\" are omitted ({})", quote(name_), omitted)),
                  ref));
  }

  // ---- afterwards ----

  void find_duplicates() const {
    const auto name_of = [&](std::size_t i) -> const std::string& { return model_.tensors[i].name; };
    if (const auto equal = equal_names(model_.tensors.size(), name_of); !equal.empty())
      throw Error(ErrorKind::corrupt, "torch.name.duplicate",
                  fmt::format("two tensors are called \"{}\"", quote(name_of(equal.front().first))))
          .in(content_.source.name());
  }

  // Reports tensors that are the same bytes of the file in the same shape.
  void report_ties() {
    if (content_.options.diagnostics == nullptr) return;
    constexpr std::size_t kNamed = 100;  // more are not readable
    std::size_t ties = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> places;
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      const Tensor& tensor = model_.tensors[i];
      if (!tensor.is_dense() || tensor.bytes() == 0 || !tensor.components[0].blob.is_plain()) continue;
      const Blob& blob = tensor.components[0].blob;
      const auto [first, is_new] = places.try_emplace({blob.offset(), blob.size()}, i);
      if (!is_new && model_.tensors[first->second].shape == tensor.shape && ++ties <= kNamed)
        content_.diagnostics.note(
            Error(ErrorKind::unsupported, "torch.tied",
                  fmt::format("has the same bytes as {}: the two are tied", quote(model_.tensors[first->second].name)))
                .in(content_.source.name())
                .at(blob.offset())
                .about("tensor " + quote(tensor.name)));
    }
    if (ties > kNamed)
      content_.diagnostics.note(
          Error(ErrorKind::unsupported, "torch.tied", fmt::format("{} more tensors are tied to others", ties - kNamed))
              .in(content_.source.name()));
  }

  const Content& content_;
  const Pickle& p_;
  Model& model_;
  std::vector<Meaning> meanings_;
  std::vector<std::uint8_t> holds_;  // per value: whether it contains a tensor
  std::string name_;
  Map module_versions_;
};

}  // namespace

void read_tree(const Content& content, Model& model) { TreeReader(content, model).run(); }

}  // namespace tare::torch
