// PyTorch files made opcode by opcode: valid ones, and one per rule that a file can break.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zip_maker.hpp"

namespace tare::testing::pk {

inline std::string u8(unsigned value) { return std::string(1, static_cast<char>(value)); }
inline std::string text(std::string_view value) {
  std::string out = "X";
  put<std::uint32_t>(out, value.size());
  return out.append(value);
}
inline std::string integer(std::int64_t value) {
  if (value >= 0 && value < 256) return "K" + u8(static_cast<unsigned>(value));
  std::string out = "\x8A\x08";
  put<std::uint64_t>(out, static_cast<std::uint64_t>(value));
  return out;
}
inline std::string real(double value) {
  std::string out = "G", bits;
  put<std::uint64_t>(bits, std::bit_cast<std::uint64_t>(value));
  return out.append(bits.rbegin(), bits.rend());
}
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}
inline std::string integers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}
using Pairs = std::vector<std::pair<std::string, std::string>>;
inline std::string pairs(const Pairs& entries) {
  std::string out = "(";
  for (const auto& [key, value] : entries) out += text(key) + value;
  return out + "u";
}
inline std::string dict(const Pairs& entries) { return "}" + pairs(entries); }
inline std::string call(const std::string& callable, const std::vector<std::string>& arguments) {
  return callable + tuple(arguments) + "R";
}
inline std::string ordered_dict() { return call(global("collections", "OrderedDict"), {}); }
inline std::string storage(std::string_view type, std::string_view key, std::int64_t elements) {
  const std::string_view module = type == "UntypedStorage" ? "torch.storage" : "torch";
  return tuple({text("storage"), global(module, type), text(key), text("cpu"), integer(elements)}) + "Q";
}
inline std::string rebuild(std::string_view name) { return global("torch._utils", name); }
inline std::string view(const std::string& stored, std::int64_t offset, const std::vector<std::int64_t>& sizes,
                        const std::vector<std::int64_t>& strides) {
  return call(rebuild("_rebuild_tensor_v2"),
              {stored, integer(offset), integers(sizes), integers(strides), "\x89", ordered_dict()});
}
inline std::string floats(std::string_view key, std::int64_t elements) {
  return view(storage("FloatStorage", key, elements), 0, {elements}, {1});
}
inline std::string whole(const std::string& object) { return "\x80\x02" + object + "."; }

// Storages are named "0", "1", ... by position.
inline std::vector<MadeMember> members(const std::string& pickle, const std::vector<std::string>& storages,
                                       std::string_view order = "little") {
  std::vector<MadeMember> all = {made("m/data.pkl", pickle), made("m/byteorder", order)};
  for (std::size_t i = 0; i < storages.size(); ++i) all.push_back(made("m/data/" + std::to_string(i), storages[i]));
  all.push_back(made("m/version", "3\n"));
  return all;
}
inline Bytes archive(const std::string& object, const std::vector<std::string>& storages = {},
                     std::string_view order = "little") {
  return bytes_of(make_zip(members(whole(object), storages, order)).bytes);
}
inline std::string legacy_head(bool little = true) {
  const std::string info = dict({{"protocol_version", "M\xE9\x03"}, {"little_endian", little ? "\x88" : "\x89"}});
  return "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03." + whole(info);
}
inline std::string legacy_storage(std::uint64_t elements, std::string_view bytes) {
  std::string out;
  put<std::uint64_t>(out, elements);
  return out.append(bytes);
}

// 0, 1, 2, ... as f32.
inline std::string counted(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) put<std::uint32_t>(out, std::bit_cast<std::uint32_t>(static_cast<float>(i)));
  return out;
}

struct Case {
  std::string rule, name;
  Bytes file;
};

inline std::vector<std::pair<std::string, Bytes>> good() {
  const std::string six = counted(6);
  std::vector<std::pair<std::string, Bytes>> files;
  const auto add = [&](std::string name, Bytes file) { files.emplace_back(std::move(name), std::move(file)); };
  add("small", archive(dict({{"a", floats("0", 1)}}), {counted(1)}));
  const std::string stored = storage("FloatStorage", "0", 6);
  add("views", archive(dict({{"a", view(stored, 0, {2, 3}, {3, 1})},
                             {"t", view(stored, 0, {3, 2}, {1, 3})},
                             {"part", view(stored, 1, {2}, {2})},
                             {"wide", view(stored, 5, {4, 1}, {0, 7})},
                             {"empty", view(stored, 0, {0, 3}, {3, 1})},
                             {"scalar", view(stored, 5, {}, {})},
                             {"tied", view(stored, 0, {2, 3}, {3, 1})}}),
                       {six}));
  const std::string state = ordered_dict() + pairs({{"w", floats("0", 6)}}) +
                            dict({{"_metadata", dict({{"", dict({{"version", integer(1)}})}})}}) + "b";
  add("tree", archive(dict({{"model", state},
                            {"list", list({floats("1", 1), tuple({floats("1", 1), integer(3)}), text("x")})},
                            {"epoch", integer(-7)},
                            {"loss", real(0.5)},
                            {"none", "N"},
                            {"on", "\x88"},
                            {"bytes", call(global("_codecs", "encode"), {text("\xC3\xBFz"), text("latin1")})},
                            {"device", call(global("torch", "device"), {text("cuda"), integer(1)})},
                            {"dtype", global("torch", "float16")},
                            {"size", call(global("torch", "Size"), {integers({1, 2})})},
                            {"options", dict({{"lr", real(0.001)}, {"betas", list({real(0.9), real(0.5)})}})}}),
                      {six, counted(1)}));
  add("parameters",
      archive(dict({{"p", call(rebuild("_rebuild_parameter"), {floats("0", 6), "\x88", ordered_dict()})},
                    {"b", call(global("torch._tensor", "_rebuild_from_type_v2"),
                               {rebuild("_rebuild_tensor_v2"), global("torch", "Tensor"),
                                tuple({storage("FloatStorage", "0", 6), integer(0), integers({6}), integers({1}),
                                       "\x89", ordered_dict()}),
                                dict({{"_is_buffer", "\x88"}})})},
                    {"f8", call(rebuild("_rebuild_tensor_v3"),
                                {storage("UntypedStorage", "1", 4), integer(0), integers({2, 2}), integers({2, 1}),
                                 "\x89", ordered_dict(), global("torch", "float8_e4m3fn")})}}),
              {six, "abcd"}));
  std::string swapped;
  for (std::size_t i = 0; i < six.size(); i += 4)
    for (std::size_t b = 4; b-- > 0;) swapped.push_back(six[i + b]);
  add("big_endian", archive(dict({{"a", floats("0", 6)}}), {swapped}, "big"));
  auto deflated = members(
      whole(dict({{"a", floats("0", 300)}, {"t", view(storage("FloatStorage", "0", 300), 0, {20, 15}, {1, 20})}})), {});
  deflated.push_back(made("m/data/0", std::string(1200, '\0'), true));
  add("deflated", bytes_of(make_zip(deflated).bytes));
  add("lone", archive(floats("0", 6), {six}));
  const std::string legacy =
      legacy_head() +
      whole(dict({{"a", floats("k", 6)}, {"t", view(storage("FloatStorage", "k", 6), 0, {3, 2}, {1, 3})}})) +
      whole(list({text("k")})) + legacy_storage(6, six);
  add("legacy", bytes_of(legacy));
  // Protocol 4: frames, short texts, globals from the stack, a memo without indices.
  const auto brief = [](std::string_view value) {
    return "\x8C" + u8(static_cast<unsigned>(value.size())) + std::string(value) + "\x94";
  };
  const std::string modern = "}\x94" + brief("a") + brief("torch._utils") + brief("_rebuild_tensor_v2") + "\x93\x94((" +
                             brief("storage") + brief("torch") + brief("FloatStorage") + "\x93\x94" + brief("0") +
                             brief("cpu") + "K\x06t\x94QK" + u8(0) + "K\x06\x85\x94K\x01\x85\x94\x89" +
                             brief("collections") + brief("OrderedDict") + "\x93\x94)R\x94t\x94R\x94s.";
  std::string framed = "\x80\x04\x95";
  put<std::uint64_t>(framed, modern.size());
  add("protocol_4", bytes_of(make_zip(members(framed + modern, {six})).bytes));
  // Protocol 0, with everything as lines, except the id of the storage, which it cannot express.
  add("lines", archive("(dp0\nVa\\u00e9\np1\n(lp2\nI1\naI-2\naL3L\naF1.5\naI01\naS'x\\x41\\n'\np3\naNasVb\ng2\ns" +
                           text("w") + floats("0", 1) + "s",
                       {counted(1)}));
  return files;
}

inline std::vector<Case> bad_pickles() {
  const std::string memo = "q" + u8(0);
  std::string laughs = "]";  // each list contains the previous one ten times
  for (unsigned i = 0; i < 12; ++i) {
    laughs += "q" + u8(i) + "0](";
    for (int n = 0; n < 10; ++n) laughs += "h" + u8(i);
    laughs += "e";
  }
  std::string deep = "N";
  for (int i = 0; i < 200; ++i) deep = "]" + deep + "a";
  std::string names = "X";
  put<std::uint32_t>(names, 40000);
  names += std::string(40000, 'n') + "q" + u8(0) + "0}";
  for (int i = 0; i < 600; ++i) names += text(std::to_string(i)) + "}h" + u8(0) + "K\x01ss";
  std::string ext = "\x84";
  put<std::uint32_t>(ext, 7);
  const auto lone = [](const std::string& ops) { return archive(ops); };
  std::string huge = "\x8B";
  put<std::uint32_t>(huge, 0xFFFFFFFF);
  std::string past = "X";
  put<std::uint32_t>(past, 0x7FFFFFFF);
  std::string frame = "\x95";
  put<std::uint64_t>(frame, std::uint64_t{1} << 40);
  std::string index = "Nr";
  put<std::uint32_t>(index, 0xFFFFFFF0);
  return {
      {"pickle.opcode", "zero_byte", lone(std::string(1, '\0'))},
      {"pickle.opcode", "high_byte", lone("\xFF")},
      {"pickle.truncated", "in_a_text", lone(past)},
      {"pickle.truncated", "no_stop", bytes_of(make_zip(members("\x80\x02}", {})).bytes)},
      {"pickle.truncated", "empty", bytes_of(make_zip(members("", {})).bytes)},
      {"pickle.truncated", "a_line_without_end", bytes_of(make_zip(members("\x80\x02I12", {})).bytes)},
      {"pickle.length", "negative_long", lone(huge)},
      {"pickle.protocol", "six", bytes_of(make_zip(members("\x80\x06}.", {})).bytes)},
      {"pickle.stack", "reduce_of_nothing", lone("R")},
      {"pickle.stack", "append_to_nothing", lone("Na")},
      {"pickle.stack", "build_of_nothing", lone("}b")},
      {"pickle.stack", "below_the_mark", lone("}(s")},
      {"pickle.stack", "odd_items", lone("}(Nu")},
      {"pickle.stack", "tuple3_of_two", lone("NN\x87")},
      {"pickle.stack", "obj_without_a_class", lone("(o")},
      {"pickle.stack", "persistent_id_of_nothing", lone("Q")},
      {"pickle.mark", "tuple_without_a_mark", lone("Nt")},
      {"pickle.mark", "setitems_without_a_mark", lone("}NNu")},
      {"pickle.mark", "pop_mark", lone("N1")},
      {"pickle.stop", "nothing_on_the_stack", lone("")},
      {"pickle.stop", "two_values", lone("NN")},
      {"pickle.stop", "a_mark_left", lone("N(")},
      {"pickle.memo.missing", "get", lone("h" + u8(9))},
      {"pickle.memo.missing", "self", lone("](h" + u8(0) + "e" + memo)},
      {"pickle.memo.index", "long_binput", lone(index)},
      {"pickle.memo.index", "put_line", lone("Np999999999\n")},
      {"pickle.number", "int", lone("I1x\n")},
      {"pickle.number", "long", lone("LL\n")},
      {"pickle.number", "float", lone("Fone\n")},
      {"pickle.number", "memo", lone("Np-1\n")},
      {"pickle.text", "no_quotes", lone("Sx\n")},
      {"pickle.text", "bad_escape", lone("S'\\xZZ'\n")},
      {"pickle.text", "bad_unicode", lone("V\\u12\n")},
      {"pickle.type", "append_to_a_dict", lone("}Na")},
      {"pickle.type", "setitem_of_a_list", lone("]NNs")},
      {"pickle.type", "additems_of_a_list", lone("](N\x90")},
      {"pickle.type", "build_of_a_dict", lone("}}b")},
      {"pickle.type", "arguments_are_a_list", lone(global("collections", "OrderedDict") + "]R")},
      {"pickle.global", "numbers", lone("K\x01K\x02\x93")},
      {"pickle.extension", "ext4", lone(ext)},
      {"pickle.buffer", "next_buffer", lone("\x97")},
      {"pickle.frame", "longer_than_the_rest", lone(frame)},
      {"open.values", "billion_laughs", lone(laughs)},
      {"torch.tree.depth", "two_hundred_lists", lone(deep)},
      {"torch.tree.depth", "a_list_in_itself", lone("]q" + u8(0) + "h" + u8(0) + "a")},
      {"open.bytes", "one_long_key_many_times", lone(names)},
      {"torch.root", "a_number", lone("K\x05")},
      {"torch.value", "no_byte",
       lone(dict({{"b", call(global("_codecs", "encode"), {text("\xE2\x82\xAC"), text("latin1")})}}))},
  };
}

inline std::vector<Case> bad_globals() {
  constexpr std::string_view kMetadata = "torch.distributed.checkpoint.metadata";
  const auto with = [](const std::string& value) {
    return archive(dict({{"w", floats("0", 1)}, {"x", value}}), {counted(1)});
  };
  std::string many = "](";
  for (int i = 0; i < 1001; ++i) many += global("m", "n" + std::to_string(i));
  return {
      {"torch.global.dangerous", "os_system", with(call(global("os", "system"), {text("true")}))},
      {"torch.global.dangerous", "posix_system", with(call(global("posix", "system"), {text("true")}))},
      {"torch.global.dangerous", "eval", with(call(global("builtins", "eval"), {text("1")}))},
      {"torch.global.dangerous", "getattr_chain",
       with(call(
           call(global("builtins", "getattr"), {call(global("builtins", "__import__"), {text("os")}), text("system")}),
           {text("true")}))},
      // getattr on an enumeration may name one of its values, and nothing else.
      {"torch.global.dangerous", "getattr_inside_an_enumeration",
       with(call(global("builtins", "getattr"), {global(kMetadata, "_MEM_FORMAT_ENCODING"), text("__init__")}))},
      {"torch.global.dangerous", "getattr_of_a_class",
       with(call(global("builtins", "getattr"), {global("argparse", "Namespace"), text("A")}))},
      {"torch.global.dangerous", "getattr_with_a_third",
       with(call(global("builtins", "getattr"), {global(kMetadata, "_MEM_FORMAT_ENCODING"), text("A"), text("B")}))},
      {"torch.global.dangerous", "getattr_once_well",
       with(list({call(global("builtins", "getattr"), {global(kMetadata, "_MEM_FORMAT_ENCODING"), text("A")}),
                  call(global("builtins", "getattr"), {text("x"), text("A")})}))},
      {"torch.global.dangerous", "from_the_stack",
       with(text("os") + text("system") + "\x93" + tuple({text("true")}) + "R")},
      {"torch.global.dangerous", "a_dotted_name", with(text("torch") + text("_utils.os.system") + "\x93)R")},
      {"torch.global.dangerous", "inst", with("(" + text("true") + "ios\nsystem\n")},
      {"torch.global.dangerous", "obj", with("(" + global("subprocess", "Popen") + text("true") + "o")},
      {"torch.global.dangerous", "newobj_and_build", with(global("subprocess", "Popen") + ")\x81}b")},
      {"torch.global.dangerous", "behind_a_broken_opcode",
       archive("}Na" + global("os", "system") + text("true") + "\x85R0")},
      {"torch.global.dangerous", "pickle_loads", with(call(global("_pickle", "loads"), {text("x")}))},
      {"torch.global.refused", "a_class", with(global("my.package", "Config") + ")\x81}b")},
      {"torch.global.refused", "a_module", with(global("torch.nn.modules.linear", "Linear") + ")\x81}b")},
      {"torch.global.many", "a_thousand", archive(many + "e")},
  };
}

inline std::vector<Case> bad_tensors() {
  const std::string six = counted(6), stored = storage("FloatStorage", "0", 6);
  const auto with = [&](const std::string& value) { return archive(dict({{"x", value}}), {six}); };
  const std::string large = "\x8A\x09" + std::string(8, '\0') + "\x01";
  const auto raw_view = [&](const std::string& offset, const std::string& sizes, const std::string& strides) {
    return with(call(rebuild("_rebuild_tensor_v2"), {stored, offset, sizes, strides, "\x89", ordered_dict()}));
  };
  std::vector<std::int64_t> ones(70, 1);
  const std::string typed = global("torch._tensor", "_rebuild_from_type_v2");
  return {
      {"torch.tensor.bounds", "offset", with(view(stored, 6, {1}, {1}))},
      {"torch.tensor.bounds", "negative_offset", with(view(stored, -1, {1}, {1}))},
      {"torch.tensor.bounds", "sizes", with(view(stored, 0, {7}, {1}))},
      {"torch.tensor.bounds", "strides", with(view(stored, 0, {2, 3}, {4, 1}))},
      {"torch.tensor.bounds", "overflowing_stride", with(view(stored, 0, {3}, {INT64_MAX}))},
      {"torch.tensor.bounds", "overflowing_sum", with(view(stored, INT64_MAX, {2, 2}, {INT64_MAX, INT64_MAX}))},
      {"torch.tensor.stride", "negative", with(view(stored, 5, {2}, {-1}))},
      {"torch.tensor.size", "negative", with(view(stored, 0, {-2}, {1}))},
      {"torch.tensor.size", "overflow", with(view(stored, 0, {INT64_MAX, INT64_MAX}, {0, 0}))},
      {"torch.tensor.size", "beyond_64_bits", raw_view(integer(0), tuple({large}), integers({1}))},
      {"torch.tensor.expanded", "terabytes", with(view(stored, 0, {std::int64_t{1} << 40}, {0}))},
      {"torch.tensor.rank", "seventy", with(view(stored, 0, ones, ones))},
      {"torch.tensor.form", "sizes_and_strides", with(view(stored, 0, {2, 3}, {1}))},
      {"torch.tensor.form", "text_offset", raw_view(text("0"), integers({1}), integers({1}))},
      {"torch.tensor.form", "list_of_sizes", raw_view(integer(0), list({integer(1)}), integers({1}))},
      {"torch.tensor.form", "two_arguments", with(call(rebuild("_rebuild_tensor_v2"), {stored, integer(0)}))},
      {"torch.tensor.form", "no_storage", with(view("N", 0, {1}, {1}))},
      {"torch.tensor.form", "parameter_of_nothing", with(call(rebuild("_rebuild_parameter"), {"N", "\x88", "N"}))},
      {"torch.tensor.form", "quantized_without_a_scale", with(view(storage("QInt8Storage", "0", 24), 0, {24}, {1}))},
      {"torch.tensor.kind", "meta",
       with(call(rebuild("_rebuild_meta_tensor_no_storage"),
                 {global("torch", "float32"), integers({2}), integers({1}), "\x89"}))},
      {"torch.tensor.kind", "subclass", with(call(typed, {rebuild("_rebuild_tensor_v2"), "N", tuple({}), "}"}))},
      {"torch.tensor.lazy", "conjugate",
       with(call(rebuild("_rebuild_tensor_v2"), {stored, integer(0), integers({6}), integers({1}), "\x89",
                                                 ordered_dict(), dict({{"conj", "\x88"}})}))},
      {"torch.type", "complex32",
       with(
           call(rebuild("_rebuild_tensor_v3"), {storage("UntypedStorage", "0", 24), integer(0), integers({6}),
                                                integers({1}), "\x89", ordered_dict(), global("torch", "complex32")}))},
      {"torch.persistent.form", "a_number", with(view("K\x01Q", 0, {1}, {1}))},
      {"torch.persistent.form", "a_module", with(view(tuple({text("module"), "N", "N", "N", "N"}) + "Q", 0, {1}, {1}))},
      {"torch.persistent.nested", "two",
       with(view(tuple({text("storage"), stored, text("0"), text("cpu"), integer(6)}) + "Q", 0, {1}, {1}))},
      {"torch.persistent.text", "protocol_0", with(view("P('storage', ...)\n", 0, {1}, {1}))},
      {"torch.storage.missing", "seven", with(floats("7", 6))},
      {"torch.storage.missing", "a_path", with(floats("../data.pkl", 6))},
      {"torch.storage.size", "too_many", with(floats("0", 7))},
      {"torch.storage.size", "overflow", with(view(storage("FloatStorage", "0", INT64_MAX), 0, {1}, {1}))},
      {"torch.storage.size", "negative", with(view(storage("FloatStorage", "0", -6), 0, {1}, {1}))},
      {"torch.storage.view", "of_another",
       with(view(tuple({text("storage"), global("torch", "FloatStorage"), text("0"), text("cpu"), integer(6),
                        tuple({text("1"), integer(0), integer(3)})}) +
                     "Q",
                 0, {1}, {1}))},
      {"torch.name.duplicate", "dots",
       archive(dict({{"a", dict({{"b", floats("0", 6)}})}, {"a.b", floats("0", 6)}}), {six})},
      {"torch.key", "a_tuple", archive("}" + integers({1, 2}) + floats("0", 6) + "s", {six})},
  };
}

inline std::vector<Case> bad_archives() {
  const std::string six = counted(6), pickle = whole(dict({{"a", floats("0", 6)}}));
  const auto zipped = [](const std::vector<MadeMember>& all) { return bytes_of(make_zip(all).bytes); };
  const auto changed = [&](const auto& change) {
    MadeZip zip = make_zip(members(pickle, {six}));
    change(zip);
    return bytes_of(zip.bytes);
  };
  auto with = members(pickle, {six});
  const auto plus = [&](MadeMember member) {
    auto all = with;
    all.push_back(std::move(member));
    return zipped(all);
  };
  auto lost = with;
  lost.erase(lost.begin());
  auto short_storage = members(pickle, {counted(5)});
  auto described_storage = members(pickle, {six});
  described_storage.back().flags = 1 << 3;
  described_storage.back().after = "PK\7\x08";
  for (const std::uint64_t value :
       {std::uint64_t{described_storage.back().crc}, described_storage.back().size, described_storage.back().size + 1})
    put<std::uint32_t>(described_storage.back().after, value);
  const std::string sys_info = [] {
    std::string tar(512, '\0');
    tar.replace(0, 8, "sys_info");
    tar.replace(257, 5, "ustar");
    return tar;
  }();
  const std::string content = whole(dict({{"a", floats("k", 6)}})), keys = whole(list({text("k")}));
  return {
      {"torch.archive.pickle", "two", plus(made("n/data.pkl", pickle))},
      {"torch.archive.name", "absolute", plus(made("/etc/passwd", "x"))},
      {"torch.archive.name", "up", plus(made("m/data/../../x", "x"))},
      {"torch.archive.stray", "another_folder", plus(made("other/file", "x"))},
      {"torch.archive.byteorder", "middle", archive(dict({{"a", floats("0", 6)}}), {six}, "middle")},
      {"torch.pickle.trailing", "two_bytes", zipped(members(pickle + "..", {six}))},
      {"torch.storage.size", "short_member", zipped(short_storage)},
      {"torch.script", "constants", plus(made("m/constants.pkl", "\x80\x02)."))},
      {"torch.tar", "sys_info", bytes_of(sys_info)},
      {"zip.member.overlap", "same_bytes", changed([](MadeZip& zip) {
         for (const std::size_t at : {zip.members[1].central + 20, zip.members[1].local + 18}) {
           patch<std::uint32_t>(zip.bytes, at, 40);
           patch<std::uint32_t>(zip.bytes, at + 4, 40);
         }
       })},
      {"zip.local.size", "smaller_inside",
       changed([](MadeZip& zip) { patch<std::uint32_t>(zip.bytes, zip.members[2].local + 22, 20); })},
      {"zip.member.encrypted", "flag", changed([](MadeZip& zip) {
         patch<std::uint16_t>(zip.bytes, zip.members[2].central + 8, 1);
         patch<std::uint16_t>(zip.bytes, zip.members[2].local + 6, 1);
       })},
      {"zip.zip64.missing", "size_all_ones",
       changed([](MadeZip& zip) { patch<std::uint32_t>(zip.bytes, zip.members[2].central + 24, 0xFFFFFFFF); })},
      {"zip.member.duplicate", "two_storages", plus(made("m/data/0", six))},
      {"zip.descriptor", "storage_size", zipped(described_storage)},
      {"zip.member.crc", "storage", changed([](MadeZip& zip) { zip.bytes[zip.members[2].data] ^= 1; })},
      {"torch.legacy.magic", "a_dict", bytes_of(whole(dict({{"a", integer(1)}})))},
      {"torch.legacy.protocol", "one",
       bytes_of("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19." + whole("K\x01"))},
      {"torch.legacy.info", "a_list",
       bytes_of("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03." + whole("]"))},
      {"torch.legacy.keys", "a_dict", bytes_of(legacy_head() + content + whole("}"))},
      {"torch.legacy.keys", "unknown",
       bytes_of(legacy_head() + content + whole(list({text("z")})) + legacy_storage(6, six))},
      {"torch.legacy.keys", "twice",
       bytes_of(legacy_head() + content + whole(list({text("k"), text("k")})) + legacy_storage(6, six) +
                legacy_storage(6, six))},
      {"torch.legacy.truncated", "no_storage", bytes_of(legacy_head() + content + keys)},
      {"torch.legacy.truncated", "half_a_storage",
       bytes_of(legacy_head() + content + keys + legacy_storage(6, six.substr(0, 12)))},
      {"torch.legacy.truncated", "a_count_of_all_ones",
       bytes_of(legacy_head() + content + keys + legacy_storage(UINT64_MAX, six))},
      {"torch.legacy.trailing", "four_bytes",
       bytes_of(legacy_head() + content + keys + legacy_storage(6, six) + "more")},
      {"torch.global.dangerous", "in_a_legacy_file",
       bytes_of(legacy_head() + whole(call(global("os", "system"), {text("true")})) + whole("]"))},
  };
}

inline std::vector<Case> bad() {
  std::vector<Case> all;
  for (auto&& cases : {bad_pickles(), bad_globals(), bad_tensors(), bad_archives()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

}  // namespace tare::testing::pk
