// The pickle machine. An opcode is one byte, and its operand depends on that byte alone (kOperands), so a pickle can be
// walked without being run.
#include "wire/pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"

namespace tare::wire {
namespace {

// The operand of an opcode.
enum class Operand : std::uint8_t {
  unknown,  // not an opcode
  none,
  u1,
  u2,
  i4,
  u4,
  u8,
  f8,
  line,
  lines,     // two lines
  bytes_u1,  // a length, then that many bytes
  bytes_i4,
  bytes_u4,
  bytes_u8,
};

constexpr auto kOperands = [] {
  std::array<Operand, 256> table{};
  for (const char op : std::string_view("(.012NRabdetu})loQs]")) table[static_cast<unsigned char>(op)] = Operand::none;
  for (const unsigned op :
       {0x81U, 0x85U, 0x86U, 0x87U, 0x88U, 0x89U, 0x8FU, 0x90U, 0x91U, 0x92U, 0x93U, 0x94U, 0x97U, 0x98U})
    table[op] = Operand::none;
  for (const char op : std::string_view("FILSVPgp")) table[static_cast<unsigned char>(op)] = Operand::line;
  for (const char op : std::string_view("ci")) table[static_cast<unsigned char>(op)] = Operand::lines;
  for (const char op : std::string_view("Khq\x80\x82")) table[static_cast<unsigned char>(op)] = Operand::u1;
  for (const char op : std::string_view("M\x83")) table[static_cast<unsigned char>(op)] = Operand::u2;
  for (const char op : std::string_view("J\x84")) table[static_cast<unsigned char>(op)] = Operand::i4;
  for (const char op : std::string_view("jr")) table[static_cast<unsigned char>(op)] = Operand::u4;
  for (const char op : std::string_view("\x95")) table[static_cast<unsigned char>(op)] = Operand::u8;
  for (const char op : std::string_view("G")) table[static_cast<unsigned char>(op)] = Operand::f8;
  for (const char op : std::string_view("UC\x8A\x8C")) table[static_cast<unsigned char>(op)] = Operand::bytes_u1;
  for (const char op : std::string_view("T\x8B")) table[static_cast<unsigned char>(op)] = Operand::bytes_i4;
  for (const char op : std::string_view("XB")) table[static_cast<unsigned char>(op)] = Operand::bytes_u4;
  for (const char op : std::string_view("\x8D\x8E\x96")) table[static_cast<unsigned char>(op)] = Operand::bytes_u8;
  return table;
}();

struct Op {
  unsigned code = 0;
  std::uint64_t number = 0;      // an operand of fixed size, as an unsigned number
  std::string_view text = {};    // a line without its end, or the bytes after a length
  std::string_view second = {};  // the second line
};

enum class Step : std::uint8_t { taken, unknown, truncated, negative };

// Reads the opcode at `at` and advances `at`.
Step take(std::span<const std::byte> bytes, std::uint64_t& at, Op& op) {
  const auto* const data = reinterpret_cast<const char*>(bytes.data());
  const std::uint64_t size = bytes.size();
  if (at >= size) return Step::truncated;
  op.code = std::to_integer<unsigned>(bytes[at]);
  std::uint64_t next = at + 1;
  const auto fixed = [&]<typename T>(T) {
    if (!fits(next, sizeof(T), size)) return false;
    op.number = static_cast<std::uint64_t>(load_le<T>(data + next));
    next += sizeof(T);
    return true;
  };
  const auto line = [&](std::string_view& text) {
    const void* const end = std::memchr(data + next, '\n', size - next);
    if (end == nullptr) return false;
    text = {data + next, static_cast<std::size_t>(static_cast<const char*>(end) - (data + next))};
    next += text.size() + 1;
    return true;
  };
  bool whole = true, counted = false;
  switch (kOperands[op.code]) {
    case Operand::unknown: return Step::unknown;
    case Operand::none: break;
    case Operand::u1: whole = fixed(std::uint8_t{}); break;
    case Operand::u2: whole = fixed(std::uint16_t{}); break;
    case Operand::i4: whole = fixed(std::int32_t{}); break;
    case Operand::u4: whole = fixed(std::uint32_t{}); break;
    case Operand::u8:
    case Operand::f8: whole = fixed(std::uint64_t{}); break;
    case Operand::line: whole = line(op.text); break;
    case Operand::lines: whole = line(op.text) && line(op.second); break;
    case Operand::bytes_u1: counted = whole = fixed(std::uint8_t{}); break;
    case Operand::bytes_i4: counted = whole = fixed(std::int32_t{}); break;
    case Operand::bytes_u4: counted = whole = fixed(std::uint32_t{}); break;
    case Operand::bytes_u8: counted = whole = fixed(std::uint64_t{}); break;
  }
  if (!whole) return Step::truncated;
  if (counted) {
    if (kOperands[op.code] == Operand::bytes_i4 && static_cast<std::int64_t>(op.number) < 0) return Step::negative;
    if (!fits(next, op.number, size)) return Step::truncated;
    op.text = {data + next, op.number};
    next += op.number;
  }
  at = next;
  return Step::taken;
}

constexpr Pickle::Ref kNone = 0, kFalse = 1, kTrue = 2, kEmpty = 3, kNumbers = 4;  // followed by the numbers 0 to 255
constexpr std::uint32_t kMade = kNumbers + 256;
constexpr Pickle::Ref kUnset = 0xffffffff;
constexpr std::size_t kLongestName = 1024;  // bytes of the name of a module or a global

void append_character(std::string& out, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

// The number in the first `digits` hexadecimal digits of `text`.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t digits) {
  std::uint32_t value = 0;
  if (text.size() < digits) return std::nullopt;
  const auto parsed = std::from_chars(text.data(), text.data() + digits, value, 16);
  return parsed.ptr == text.data() + digits ? std::optional(value) : std::nullopt;
}

}  // namespace

class PickleMachine {
 public:
  using Ref = Pickle::Ref;
  using Node = Pickle::Node;
  using Put = Pickle::Put;

  explicit PickleMachine(Pickle& pickle) : p_(pickle) {}

  void run() {
    for (Op op;;) {
      start_ = p_.at_;
      switch (take(p_.bytes_, p_.at_, op)) {
        case Step::taken: break;
        case Step::unknown: fail("pickle.opcode", fmt::format("{:#04x} is not an opcode of protocols 0 to 5", op.code));
        case Step::truncated: fail("pickle.truncated", "the pickle ends inside an opcode, or before STOP");
        case Step::negative:
          fail("pickle.length", fmt::format("a length of {} bytes", static_cast<std::int64_t>(op.number)));
      }
      if (op.code == '.') return stop();
      if (p_.budget_ != nullptr) located([&] { p_.budget_->spend_steps(1); });
      step(op);
    }
  }

 private:
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, ErrorKind kind = ErrorKind::corrupt) const {
    throw Error(kind, rule, sentence).at(p_.base_ + start_);
  }

  // ---- the stack ----

  void push(Ref ref) { stack_.push_back(ref); }
  // The height of the stack at the innermost mark.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void require(std::size_t count) const {
    if (stack_.size() - floor() < count)
      fail("pickle.stack",
           fmt::format("the opcode needs {} values above the mark, the stack has {}", count, stack_.size() - floor()));
  }
  Ref pop() {
    require(1);
    const Ref top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Ref top() const {
    require(1);
    return stack_.back();
  }
  // Removes the innermost mark and returns the position of the first value above it.
  std::size_t pop_mark() {
    if (marks_.empty()) fail("pickle.mark", "the opcode needs a mark, the stack has none");
    const std::size_t from = marks_.back();
    marks_.pop_back();
    return from;
  }

  void stop() {
    if (stack_.size() == 1 && marks_.empty()) {
      p_.root_ = stack_.back();
      p_.whole_ = true;
      return;
    }
    p_.bytes_ = p_.bytes_.first(p_.at_);  // what follows is not part of the pickle
    fail("pickle.stop", fmt::format("STOP: expected one value on the stack, found {} values and {} marks",
                                    stack_.size(), marks_.size()));
  }

  // ---- values ----

  void charge() const {
    // Two nodes of the machine take as much memory as one metadata value.
    if (p_.budget_ != nullptr && (p_.nodes_.size() + p_.segments_.size()) % 2 == 0)
      located([&] { p_.budget_->spend_values(1); });
  }
  template <typename Spend>
  void located(const Spend& spend) const {
    try {
      spend();
    } catch (Error& error) {
      throw error.at(p_.base_ + start_);
    }
  }
  Ref make(PickleKind kind) {
    charge();
    Node& node = p_.nodes_.emplace_back();
    node.kind = kind;
    node.at = static_cast<std::uint32_t>(start_);
    return static_cast<Ref>(p_.nodes_.size() - 1);
  }
  void push_text(std::string_view text, PickleKind kind = PickleKind::text) {
    const Ref ref = make(kind);
    p_.nodes_[ref].payload.text = text.data();
    p_.nodes_[ref].count = static_cast<std::uint32_t>(text.size());
    push(ref);
  }
  void push_decoded(std::string text) {
    charge();
    push_text(p_.decoded_.emplace_back(std::move(text)));
  }
  void push_integer(std::int64_t value) {
    if (value >= 0 && value < 256) return push(kNumbers + static_cast<Ref>(value));
    const Ref ref = make(PickleKind::integer);
    p_.nodes_[ref].payload.integer = value;
    push(ref);
  }
  void push_real(double value) {
    const Ref ref = make(PickleKind::real);
    p_.nodes_[ref].payload.real = value;
    push(ref);
  }
  std::uint32_t keep_items(std::size_t from) {
    const auto first = static_cast<std::uint32_t>(p_.items_.size());
    p_.items_.insert(p_.items_.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
    return first;
  }
  // Makes a tuple of the values from `from` on.
  void push_tuple(std::size_t from) {
    const std::size_t count = stack_.size() - from;
    if (count == 0) return push(kEmpty);
    const Ref ref = make(PickleKind::tuple);
    p_.nodes_[ref].first = keep_items(from);
    p_.nodes_[ref].count = static_cast<std::uint32_t>(count);
    push(ref);
  }
  Ref tuple_of(std::size_t from) {
    push_tuple(from);
    return pop_any();
  }
  Ref pop_any() {
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  void push_call(Ref callable, Ref arguments) {
    const Ref ref = make(PickleKind::call);
    p_.nodes_[ref].payload.pair[0] = callable;
    p_.nodes_[ref].payload.pair[1] = arguments;
    push(ref);
  }
  // Puts the values from `from` on into `into`.
  void put(Ref into, std::size_t from, Put how) {
    const std::size_t count = stack_.size() - from;
    if (how == Put::pairs && count % 2 != 0)
      fail("pickle.stack", fmt::format("{} values cannot be keys and values", count));
    if (count == 0) return;
    charge();
    const auto number = static_cast<std::uint32_t>(p_.segments_.size());
    p_.segments_.push_back({Pickle::kNothing, keep_items(from), static_cast<std::uint32_t>(count), how});
    Node& node = p_.nodes_[into];
    (node.first == Pickle::kNothing ? node.first : p_.segments_[node.count].next) = number;
    node.count = number;
  }
  void require_kind(Ref into, PickleKind kind, std::string_view what) const {
    const PickleKind found = p_.kind(into);
    if (found != kind && found != PickleKind::call) fail("pickle.type", fmt::format("the opcode needs {}", what));
  }

  // ---- numbers and texts of protocol 0 ----

  void push_decimal(std::string_view text) {
    if (text.ends_with('L')) text.remove_suffix(1);
    const std::string_view digits = text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
      fail("pickle.number", "a line that is not a whole number");
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return push_integer(value);
    push_text(text, PickleKind::large);  // not converted: that takes quadratic time in the digits
  }
  void push_float(std::string_view text) {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ptr != text.data() + text.size() || text.empty() || parsed.ec == std::errc::invalid_argument)
      fail("pickle.number", "a line that is not a number");
    push_real(value);
  }
  // Little-endian, two's complement.
  void push_long(std::string_view bytes) {
    if (bytes.size() > 8) return push_text(bytes, PickleKind::large);
    const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    push_integer(static_cast<std::int64_t>(value));
  }
  // A quoted string with the escapes of Python literals.
  void push_quoted(std::string_view text) {
    while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
    if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0])
      fail("pickle.text", "a string without quotes around it");
    text = text.substr(1, text.size() - 2);
    if (text.find('\\') == std::string_view::npos) return push_text(text);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        out.push_back(text[i]);
        continue;
      }
      if (++i == text.size()) fail("pickle.text", "a string ends with a backslash");
      constexpr std::string_view kNames = "\\'\"abfnrtv", kValues = "\\'\"\a\b\f\n\r\t\v";
      if (const std::size_t simple = kNames.find(text[i]); simple != std::string_view::npos) {
        out.push_back(kValues[simple]);
      } else if (text[i] == 'x') {
        const auto code = hexadecimal(text.substr(i + 1), 2);
        if (!code) fail("pickle.text", "\\x without two hexadecimal digits");
        out.push_back(static_cast<char>(*code));
        i += 2;
      } else if (text[i] >= '0' && text[i] <= '7') {
        unsigned code = 0;
        std::size_t digits = 0;
        for (; digits < 3 && i + digits < text.size() && text[i + digits] >= '0' && text[i + digits] <= '7'; ++digits)
          code = code * 8 + static_cast<unsigned>(text[i + digits] - '0');
        out.push_back(static_cast<char>(code));
        i += digits - 1;
      } else {
        out.push_back('\\');
        out.push_back(text[i]);
      }
    }
    push_decoded(std::move(out));
  }
  // Latin-1 with \uXXXX and \UXXXXXXXX.
  void push_unicode_line(std::string_view text) {
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c != '\\' && (c & 0x80) == 0; });
    if (plain) return push_text(text);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_short = text.substr(i).starts_with("\\u"), is_long = text.substr(i).starts_with("\\U");
      if (!is_short && !is_long) {
        append_character(out, static_cast<unsigned char>(text[i]));
        continue;
      }
      const std::size_t digits = is_short ? 4 : 8;
      const auto point = hexadecimal(text.substr(i + 2), digits);
      if (!point || *point > 0x10FFFF) fail("pickle.text", "\\u without the digits of a character");
      append_character(out, *point);
      i += 1 + digits;
    }
    push_decoded(std::move(out));
  }

  // ---- memo, globals ----

  // Picklers number memo entries consecutively, so an index never exceeds the number of bytes.
  void keep(std::uint64_t index) {
    const Ref ref = top();
    if (index > start_)
      fail("pickle.memo.index", fmt::format("memo number {} at byte {} of the pickle", index, start_));
    if (index >= p_.memo_.size()) p_.memo_.resize(index + 1, kUnset);
    if (p_.memo_[index] == kUnset) ++kept_;
    p_.memo_[index] = ref;
  }
  void recall(std::uint64_t index) {
    if (index >= p_.memo_.size() || p_.memo_[index] == kUnset)
      fail("pickle.memo.missing", fmt::format("there is no memo number {}", index));
    push(p_.memo_[index]);
  }
  std::uint64_t number_in(std::string_view line) const {
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
    if (line.empty() || parsed.ec != std::errc() || parsed.ptr != line.data() + line.size())
      fail("pickle.number", "a line that is not a memo number");
    return number;
  }
  void push_global(std::string_view module, std::string_view name) {
    // A name from the memo costs two bytes per use, but the lookup costs its length.
    if (module.size() > kLongestName || name.size() > kLongestName)
      fail("pickle.global",
           fmt::format("names of {} and {} bytes, at most {} are read", module.size(), name.size(), kLongestName));
    std::string key = fmt::format("{}\n{}", module, name);
    const auto [found, is_new] =
        p_.numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(p_.globals_.size()));
    if (is_new)
      p_.globals_.push_back({module, name, p_.base_ + start_});
    else
      ++p_.globals_[found->second].mentions;
    const Ref ref = make(PickleKind::global);
    p_.nodes_[ref].first = found->second;
    push(ref);
  }
  void push_stack_global() {
    require(2);
    const Ref name = pop(), module = pop();
    if (p_.kind(name) != PickleKind::text || p_.kind(module) != PickleKind::text)
      fail("pickle.global", "the names of a global are not strings");
    push_global(p_.text(module), p_.text(name));
  }

  void step(const Op& op) {
    switch (op.code) {
      case 0x80:  // PROTO
        if (op.number > 5) fail("pickle.protocol", fmt::format("protocol {}, at most 5 is known", op.number));
        p_.protocol_ = static_cast<unsigned>(op.number);
        return;
      case 0x95:  // FRAME
        if (op.number > p_.bytes_.size() - p_.at_)
          fail("pickle.frame", fmt::format("a frame of {} bytes, {} are left", op.number, p_.bytes_.size() - p_.at_));
        return;
      case '(': marks_.push_back(stack_.size()); return;
      case '0':  // POP also removes a mark
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          pop();
        return;
      case '1': stack_.resize(pop_mark()); return;
      case '2': return push(top());

      case 'N': return push(kNone);
      case 0x88: return push(kTrue);
      case 0x89: return push(kFalse);
      case 'I':
        if (op.text == "00" || op.text == "01") return push(op.text == "01" ? kTrue : kFalse);
        return push_decimal(op.text);
      case 'L': return push_decimal(op.text);
      case 'J': return push_integer(static_cast<std::int64_t>(op.number));
      case 'K':
      case 'M': return push_integer(static_cast<std::int64_t>(op.number));
      case 0x8A:
      case 0x8B: return push_long(op.text);
      case 'F': return push_float(op.text);
      case 'G': return push_real(std::bit_cast<double>(__builtin_bswap64(op.number)));  // big-endian
      case 'S': return push_quoted(op.text);
      case 'V': return push_unicode_line(op.text);
      case 'T':
      case 'U':
      case 'X':
      case 0x8C:
      case 0x8D: return push_text(op.text);
      case 'B':
      case 'C':
      case 0x8E:
      case 0x96: return push_text(op.text, PickleKind::bytes);
      case 0x97:
      case 0x98: fail("pickle.buffer", "the pickle needs a buffer from outside", ErrorKind::unsupported);

      case ']': return push(make(PickleKind::list));
      case '}': return push(make(PickleKind::dict));
      case 0x8F: return push(make(PickleKind::set));
      case ')': return push(kEmpty);
      case 't': return push_tuple(pop_mark());
      case 0x85:
      case 0x86:
      case 0x87: {
        const std::size_t count = op.code - 0x84;
        require(count);
        return push_tuple(stack_.size() - count);
      }
      default: return step_compound(op);
    }
  }

  // Opcodes that combine values on the stack.
  void step_compound(const Op& op) {
    switch (op.code) {
      case 'l':
      case 'd':
      case 0x91: {  // LIST, DICT, FROZENSET: of all values above the mark
        const std::size_t from = pop_mark();
        const Ref made = make(op.code == 'l' ? PickleKind::list : op.code == 'd' ? PickleKind::dict : PickleKind::set);
        put(made, from, op.code == 'd' ? Put::pairs : Put::items);
        return push(made);
      }
      case 'a': require(2); return put_into(stack_.size() - 1, Put::items, PickleKind::list, "a list");
      case 'e': return put_into(pop_mark(), Put::items, PickleKind::list, "a list");
      case 0x90: return put_into(pop_mark(), Put::items, PickleKind::set, "a set");
      case 's': require(3); return put_into(stack_.size() - 2, Put::pairs, PickleKind::dict, "a dict");
      case 'u': return put_into(pop_mark(), Put::pairs, PickleKind::dict, "a dict");
      case 'b':
        require(2);
        return put_into(stack_.size() - 1, Put::state, PickleKind::call, "an object that was made by a call");

      case 'c': return push_global(op.text, op.second);
      case 0x93: return push_stack_global();
      case 0x82:
      case 0x83:
      case 0x84:
        fail("pickle.extension", fmt::format("extension code {}, which only the writer's programs know", op.number),
             ErrorKind::unsupported);
      case 'R':
      case 0x81: {  // REDUCE, NEWOBJ
        require(2);
        const Ref arguments = pop(), callable = pop();
        if (p_.kind(arguments) != PickleKind::tuple) fail("pickle.type", "the arguments of a call are not a tuple");
        return push_call(callable, arguments);
      }
      case 0x92: {  // NEWOBJ_EX
        require(3);
        const Ref named = pop(), arguments = pop(), callable = pop();
        if (p_.kind(arguments) != PickleKind::tuple || p_.kind(named) != PickleKind::dict)
          fail("pickle.type", "the arguments of a call are not a tuple and a dict");
        push_call(callable, arguments);
        push(named);
        return put(stack_[stack_.size() - 2], stack_.size() - 1, Put::state);
      }
      case 'i': {  // INST: the class in the operand, the arguments above the mark
        const Ref arguments = tuple_of(pop_mark());
        push_global(op.text, op.second);
        const Ref callable = pop();
        return push_call(callable, arguments);
      }
      case 'o': {  // OBJ: class and arguments above the mark
        const std::size_t from = pop_mark();
        if (from == stack_.size()) fail("pickle.stack", "the opcode needs a class above the mark");
        const Ref arguments = tuple_of(from + 1), callable = pop_any();
        return push_call(callable, arguments);
      }
      case 'P': {
        push_text(op.text);
        return push_persistent();
      }
      case 'Q': return push_persistent();

      case 'p': return keep(number_in(op.text));
      case 'q':
      case 'r': return keep(op.number);
      case 0x94: return keep(kept_);
      case 'g': return recall(number_in(op.text));
      case 'h':
      case 'j': return recall(op.number);
      default: break;
    }
    fail("pickle.opcode", fmt::format("{:#04x} is not an opcode of protocols 0 to 5", op.code));
  }

  void put_into(std::size_t from, Put how, PickleKind kind, std::string_view what) {
    if (from <= floor() || from > stack_.size())
      fail("pickle.stack", "there is nothing below the mark to put values into");
    const Ref into = stack_[from - 1];
    require_kind(into, kind, what);
    put(into, from, how);
  }
  void push_persistent() {
    const Ref id = pop(), ref = make(PickleKind::persistent);
    p_.nodes_[ref].payload.pair[0] = id;
    push(ref);
  }

  Pickle& p_;
  std::uint64_t start_ = 0;  // offset of the opcode
  std::uint64_t kept_ = 0;   // entries in the memo
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
};

Pickle::Pickle(std::span<const std::byte> bytes, std::uint64_t base) : bytes_(bytes), base_(base) {
  // Offsets and counts have 32 bits; no pickle of a model comes near that.
  if (bytes.size() >= kNothing)
    throw Error(ErrorKind::limit, "pickle.large",
                fmt::format("a pickle of {} bytes, at most {} can be read", bytes.size(), kNothing - 1))
        .at(base);
  nodes_.reserve(kMade + bytes.size() / 16);  // in pickles of tensors a value takes about 16 bytes
  nodes_.resize(kMade);
  items_.reserve(bytes.size() / 16);
  nodes_[kFalse].kind = nodes_[kTrue].kind = PickleKind::boolean;
  nodes_[kTrue].payload.integer = 1;
  nodes_[kEmpty].kind = PickleKind::tuple;
  nodes_[kEmpty].first = 0;
  for (Ref number = 0; number < 256; ++number) {
    nodes_[kNumbers + number].kind = PickleKind::integer;
    nodes_[kNumbers + number].payload.integer = number;
  }
}

std::optional<std::uint64_t> Pickle::length_of(std::span<const std::byte> bytes) {
  std::uint64_t at = 0;
  for (Op op; take(bytes, at, op) == Step::taken;)
    if (op.code == '.') return at;
  return std::nullopt;
}

void Pickle::run() { PickleMachine(*this).run(); }

void Pickle::scan_rest() {
  // The names of a global are most likely the last two texts, including those recalled from the memo.
  std::string_view before, last;
  std::size_t latest = 0;  // index into globals_
  const auto see = [&](std::string_view text) { before = std::exchange(last, text); };
  const auto add = [&](std::string_view module, std::string_view name, std::uint64_t at) {
    if (module.size() > kLongestName || name.size() > kLongestName) return;
    // One-byte opcodes can name the last two texts again and again.
    if (!globals_.empty() && module.data() == globals_[latest].module.data() &&
        name.data() == globals_[latest].name.data()) {
      ++globals_[latest].mentions;
      return;
    }
    const auto [found, is_new] =
        numbers_.try_emplace(fmt::format("{}\n{}", module, name), static_cast<std::uint32_t>(globals_.size()));
    if (is_new)
      globals_.push_back({module, name, base_ + at, 1, true});
    else
      ++globals_[found->second].mentions;
    latest = found->second;
  };
  constexpr std::uint64_t kMostScanned = std::uint64_t{1} << 20;
  constexpr std::size_t kMostFound = 1000;
  std::uint64_t at = at_, steps = 0;
  for (Op op;;) {
    const std::uint64_t start = at;
    const Step step = take(bytes_, at, op);
    // The result is for a message: after that many, more add nothing.
    if (step != Step::taken || op.code == '.' || ++steps > kMostScanned || globals_.size() >= kMostFound) return;
    switch (op.code) {
      case 'c':
      case 'i': add(op.text, op.second, start); break;
      case 0x93: add(before, last, start); break;
      case 'S':
      case 'V':
      case 'T':
      case 'U':
      case 'X':
      case 0x8C:
      case 0x8D: see(op.text); break;
      case 'h':
      case 'j':
        if (op.number < memo_.size() && memo_[op.number] != kUnset && kind(memo_[op.number]) == PickleKind::text)
          see(text(memo_[op.number]));
        break;
      default: break;
    }
  }
}

}  // namespace tare::wire
