// Files written by a grammar, mostly almost valid: pickles, zip archives, GGUF, safetensors, JSON, CBOR. Repetition
// costs readers most: one object that many others refer to, one name for many items, counts without data, a few bytes
// that inflate to many. So every list here has a length from Random::many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"
#include "zip_maker.hpp"

namespace tare::fuzz {

using testing::put;

// Bytes of one piece: of a pickle before it is deflated, and of data that is stored uncompressed.
inline constexpr std::size_t kMostMade = std::size_t{1} << 18, kMostStored = std::size_t{1} << 14;

// Repeats `piece`, but to no more than `most` bytes.
inline std::string repeated(std::string_view piece, std::size_t count, std::size_t most = kMostMade) {
  std::string out;
  count = piece.empty() ? 0 : std::min(count, most / piece.size());
  out.reserve(count * piece.size());
  for (std::size_t i = 0; i < count; ++i) out += piece;
  return out;
}

inline std::string any_name(Random& random) {
  constexpr std::string_view kNames[] = {"a",
                                         "b",
                                         "w",
                                         "",
                                         "model.layers.0.self_attn.q_proj.weight",
                                         "model.embed_tokens.weight",
                                         "lm_head.weight",
                                         "data",
                                         "layers.0.qweight",
                                         "layers.0.scales",
                                         "base_model.model.a.lora_A.weight",
                                         "base_model.model.a.lora_B.weight",
                                         "blk.0.attn_q.weight",
                                         "token_embd.weight",
                                         "weight_map",
                                         "__metadata__",
                                         "state_dict",
                                         "../x",
                                         "a\xCC\x81"};
  std::string name(random.one_of(kNames));
  if (random.one_in(3)) name += std::to_string(random.below(40));
  if (random.one_in(12)) name = repeated(name + ".", random.many(), kMostStored);
  return name;
}

// ---- pickles: each returns opcodes that leave one object on the stack ----

inline std::string pickled_text(std::string_view text) {
  std::string out = "X";
  put<std::uint32_t>(out, text.size());
  return out.append(text);
}

inline std::string pickled_number(Random& random) {
  std::string out;
  if (random.one_in(2)) {
    out = "K";
    put<std::uint8_t>(out, random.next());
  } else {
    out = "\x8a\x08";
    put<std::uint64_t>(out, random.number());
  }
  return out;
}

// The memo has few places, so that `get` often finds what was `put`.
inline std::string memo(char opcode, Random& random) { return {opcode, static_cast<char>(random.below(6))}; }

inline std::string pickled_global(Random& random) {
  constexpr std::string_view kGlobals[] = {"torch._utils\n_rebuild_tensor_v2\n",
                                           "torch._utils\n_rebuild_parameter\n",
                                           "collections\nOrderedDict\n",
                                           "torch\nFloatStorage\n",
                                           "torch\nBFloat16Storage\n",
                                           "torch\nSize\n",
                                           "os\nsystem\n",
                                           "torch.storage\nUntypedStorage\n",
                                           "torch._utils\n_rebuild_sparse_tensor\n",
                                           "torch.distributed.checkpoint.metadata\nMetadata\n",
                                           "torch.distributed.checkpoint.metadata\nTensorStorageMetadata\n",
                                           "torch.distributed.checkpoint.metadata\nMetadataIndex\n",
                                           "torch.distributed.checkpoint.metadata\nChunkStorageMetadata\n",
                                           "torch.distributed.checkpoint.filesystem\n_StorageInfo\n",
                                           "torch.distributed.checkpoint.metadata\nBytesStorageMetadata\n"};
  return "c" + std::string(random.one_of(kGlobals));
}

inline std::string any_object(Random& random, unsigned depth);

// The items of a collection: one that is repeated, or a few different ones.
template <typename Item>
std::string items(Random& random, const Item& item) {
  if (random.one_in(2)) return repeated(item(), random.many());
  std::string out;
  for (std::size_t i = random.below(5); i > 0 && out.size() < kMostMade; --i) out += item();
  return out;
}

inline std::string objects(Random& random, unsigned depth) {
  return items(random, [&] { return any_object(random, depth); });
}

inline std::string pairs(Random& random, unsigned depth) {
  return items(random, [&] { return pickled_text(any_name(random)) + any_object(random, depth); });
}

inline std::string pickled_tensor(Random& random) {
  const auto numbers = [&] {
    std::string out = "(";
    for (std::size_t i = random.below(4); i > 0; --i) out += pickled_number(random);
    return out + "t";
  };
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\nFloatStorage\n" +
         pickled_text("0") + pickled_text("cpu") + pickled_number(random) + "tQ" + pickled_number(random) + numbers() +
         numbers() + "\x89" + "ccollections\nOrderedDict\n)RtR";
}

inline std::string any_object(Random& random, unsigned depth) {
  if (depth == 0 || random.one_in(5)) {
    switch (random.below(6)) {
      case 0: return "N";
      case 1: return pickled_number(random);
      case 2: return memo('h', random);
      case 3: return random.one_in(2) ? ")" : "]";
      default: return pickled_text(any_name(random));
    }
  }
  --depth;
  switch (random.below(11)) {
    case 0: return "](" + objects(random, depth) + "e";
    case 1: return "(" + objects(random, depth) + "t";
    case 2:
    case 3: return "}(" + pairs(random, depth) + "u";
    case 4: return any_object(random, depth) + memo('q', random);
    case 5: return pickled_global(random) + ")\x81}(" + pairs(random, depth) + "ub";
    case 6: return "ccollections\nOrderedDict\n)R" + repeated(any_object(random, depth) + "b", random.many());
    case 7: return pickled_tensor(random);
    case 8: return pickled_global(random) + "(" + objects(random, depth) + "tR";
    case 9: return repeated(any_object(random, depth) + "0", random.many()) + any_object(random, depth);
    default: {
      const std::size_t deep = random.many();
      return repeated("]", deep) + "]" + repeated("a", deep);
    }
  }
}

inline std::string any_pickle(Random& random) {
  return "\x80\x02" + any_object(random, 4) + (random.one_in(10) ? "" : ".");
}

// ---- JSON and CBOR ----

inline std::string any_json(Random& random, unsigned depth) {
  constexpr std::string_view kKeys[] = {"model_type",     "num_hidden_layers",
                                        "hidden_size",    "num_attention_heads",
                                        "vocab_size",     "quantization_config",
                                        "quant_method",   "bits",
                                        "group_size",     "modules_to_not_convert",
                                        "rope_scaling",   "layer_types",
                                        "dtype",          "shape",
                                        "data_offsets",   "__metadata__",
                                        "weight_map",     "metadata",
                                        "model",          "vocab",
                                        "merges",         "added_tokens",
                                        "type",           "id",
                                        "content",        "special",
                                        "rank_pattern",   "alpha_pattern",
                                        "target_modules", "r",
                                        "lora_alpha",     "tare",
                                        "made",           "config"};
  constexpr std::string_view kValues[] = {"null",
                                          "true",
                                          "0",
                                          "1",
                                          "-1",
                                          "2000000000",
                                          "1e308",
                                          "NaN",
                                          "\"llama\"",
                                          "\"gptq\"",
                                          "\"F32\"",
                                          "[0,8]",
                                          "[2]",
                                          "[]",
                                          "{}",
                                          "\"a\"",
                                          "18446744073709551615",
                                          "\"BPE\"",
                                          "\"model.safetensors\"",
                                          "4",
                                          "128",
                                          "\"LORA\"",
                                          "0.5"};
  if (depth == 0 || random.one_in(3)) return std::string(random.one_of(kValues));
  const auto pair = [&] {
    const std::string key = random.one_in(3) ? any_name(random) : std::string(random.one_of(kKeys));
    return "\"" + key + "\":" + any_json(random, depth - 1);
  };
  const bool map = !random.one_in(3);
  std::string items = map ? pair() : any_json(random, depth - 1);
  if (random.one_in(3)) {
    items += repeated("," + items, random.many(), kMostStored);
  } else if (map && random.one_in(4)) {  // distinct keys
    const std::string value = any_json(random, depth - 1);
    for (std::size_t i = std::min<std::size_t>(random.many(), 2000); i > 0 && items.size() < kMostStored; --i)
      items += ",\"" + std::to_string(i) + "\":" + value;
  } else {
    for (std::size_t i = random.below(6); i > 0 && items.size() < kMostStored; --i)
      items += "," + (map ? pair() : any_json(random, depth - 1));
  }
  return (map ? "{" : "[") + items + (map ? "}" : "]");
}

inline std::string cbor_head(unsigned major, std::uint64_t number, Random& random) {
  const auto first = [&](unsigned low) { return std::string(1, static_cast<char>(major << 5 | low)); };
  std::string out;
  if (number < 24 && !random.one_in(8)) return first(static_cast<unsigned>(number));
  if (number < 65536) {
    out = first(25);
    out += static_cast<char>(number >> 8);
    return out += static_cast<char>(number);
  }
  out = first(27);
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
  return out;
}

inline std::string any_cbor(Random& random, unsigned depth) {
  const auto text = [&] {
    constexpr std::string_view kKeys[] = {"objects", "version", "shape",    "dtype",      "components", "data",
                                          "offset",  "length",  "encoding", "attributes", "format",     "type",
                                          "zstd",    "raw",     "digest",   "shards"};
    const std::string key = random.one_in(2) ? any_name(random) : std::string(random.one_of(kKeys));
    return cbor_head(3, random.one_in(20) ? random.number() : key.size(), random) + key;
  };
  if (depth == 0 || random.one_in(4)) switch (random.below(5)) {
      case 0: return cbor_head(0, random.number(), random);
      case 1: return cbor_head(1, random.number(), random);
      case 2: return std::string(1, static_cast<char>(0xF4 + random.below(4)));
      default: return text();
    }
  const bool map = random.one_in(2);
  const std::string item = (map ? text() : "") + any_cbor(random, depth - 1);
  const std::size_t count = std::min(random.many(), kMostStored / item.size());
  return cbor_head(map ? 5 : 4, random.one_in(12) ? random.number() : count, random) + repeated(item, count);
}

// ---- files ----

inline std::string any_npy(Random& random) {
  constexpr std::string_view kTypes[] = {"<f4", "<f2", "|u1", "<i8", "|b1", ">f4"};
  std::string shape;
  for (std::size_t i = random.below(4); i > 0; --i) shape += std::to_string(random.number()) + ",";
  std::string header = "{'descr': '" + std::string(random.one_of(kTypes)) +
                       "', 'fortran_order': " + (random.one_in(2) ? "True" : "False") + ", 'shape': (" + shape +
                       "), }\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  put<std::uint16_t>(out, header.size());
  return out + header + std::string(random.below(64), '\1');
}

inline std::string any_zip(Random& random) {
  std::vector<testing::MadeMember> members;
  constexpr std::string_view kNames[] = {"a/data.pkl", "a/version", "a/byteorder", "a/data/0",
                                         "a/data/1",   "a.npy",     "b.npy"};
  if (!random.one_in(3)) {
    members.push_back(testing::made("a/data.pkl", any_pickle(random), random.one_in(2)));
    members.push_back(testing::made("a/version", "3\n"));
    members.push_back(testing::made("a/data/0", std::string(random.below(64), '\2')));
  }
  for (std::size_t i = random.below(4); i > 0; --i) {
    const std::string name = random.one_in(4) ? any_name(random).substr(0, 60000) : std::string(random.one_of(kNames));
    const std::string content = random.one_in(2) ? any_npy(random) : repeated("\0", random.many());
    members.push_back(testing::made(name, content, random.one_in(2)));
  }
  testing::MadeZip zip = testing::make_zip(members);
  if (members.empty() || !random.one_in(3)) return zip.bytes;
  // Repeats one entry of the directory; all copies refer to the same bytes.
  const testing::MadeMember& one = zip.members[random.below(zip.members.size())];
  const std::string entry = zip.bytes.substr(one.central, 46 + one.name.size());
  const std::size_t count = std::min<std::size_t>(random.many(), 1000);
  std::string end = zip.bytes.substr(zip.end);
  const std::size_t entries = members.size() + count;
  testing::patch<std::uint16_t>(end, 8, entries);
  testing::patch<std::uint16_t>(end, 10, entries);
  testing::patch<std::uint32_t>(end, 12, zip.end - zip.directory + count * entry.size());
  return zip.bytes.substr(0, zip.end) + repeated(entry, count) + end;
}

inline std::string any_gguf(Random& random) {
  constexpr std::string_view kKeys[] = {"general.architecture",
                                        "general.name",
                                        "general.alignment",
                                        "llama.block_count",
                                        "llama.embedding_length",
                                        "tokenizer.ggml.model",
                                        "tokenizer.ggml.tokens",
                                        "tokenizer.ggml.scores",
                                        "tokenizer.ggml.merges",
                                        "tokenizer.ggml.token_type",
                                        "split.count",
                                        "split.no",
                                        "split.tensors.count",
                                        "general.type",
                                        "tare.file.x"};
  std::string out("GGUF\3\0\0\0", 8), keys, tensors;
  const auto text = [](std::string& to, std::string_view value) {
    put<std::uint64_t>(to, value.size());
    to.append(value);
  };
  const std::size_t count = random.below(8), many = random.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    text(keys, random.one_in(6) ? any_name(random) : std::string(random.one_of(kKeys)));
    const std::size_t type = random.below(13);
    put<std::uint32_t>(keys, type);
    constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      text(keys, random.one_in(2) ? "llama" : any_name(random));
    } else if (type == 9) {
      const std::size_t of = random.one_in(3) ? 8 : random.below(13);
      std::string item(kSizes[of], '\1');
      if (of == 8) text(item, any_name(random));
      if (of == 9) item = std::string(12, '\0');  // an empty array
      const std::size_t items = std::min(random.many(), kMostStored / (item.size() + 1));
      put<std::uint32_t>(keys, of);
      put<std::uint64_t>(keys, random.one_in(6) ? random.number() : items);
      keys += repeated(item, items);
    } else {
      std::string number;
      put<std::uint64_t>(number, random.number());
      keys += number.substr(0, kSizes[type]);
    }
  }
  std::size_t made = 0;
  for (std::size_t i = 0; i < many; ++i) {
    std::string one;
    text(one, any_name(random));
    const std::size_t rank = random.below(5);
    put<std::uint32_t>(one, rank);
    for (std::size_t k = 0; k < rank; ++k)
      put<std::uint64_t>(one, random.one_in(3) ? random.number() : 1 + random.below(64));
    put<std::uint32_t>(one, random.below(42));
    put<std::uint64_t>(one, random.one_in(3) ? random.number() : 0);
    const std::size_t times = random.one_in(3) ? std::min<std::size_t>(random.many(), 1000) : 1;
    tensors += repeated(one, times);
    made += times;
  }
  put<std::uint64_t>(out, random.one_in(10) ? random.number() : made);
  put<std::uint64_t>(out, random.one_in(10) ? random.number() : count);
  return out + keys + tensors + std::string(random.below(200), '\3');
}

inline std::string any_safetensors(Random& random) {
  constexpr std::string_view kTypes[] = {"F32", "BF16", "F16", "U8", "I32", "I64", "F8_E4M3", "BOOL", "F4", "X"};
  std::string header = "{", data(random.below(200), '\4');
  const auto entry = [&](const std::string& name) {
    return "\"" + name + "\":{\"dtype\":\"" + std::string(random.one_of(kTypes)) + "\",\"shape\":[" +
           std::to_string(random.one_in(4) ? random.number() : random.below(4)) + "],\"data_offsets\":[0," +
           std::to_string(random.one_in(2) ? 0 : random.below(data.size() + 2)) + "]}";
  };
  if (random.one_in(3)) header += "\"__metadata__\":" + any_json(random, 2) + ",";
  for (std::size_t i = random.below(5); i > 0; --i) header += entry(any_name(random)) + ",";
  if (random.one_in(3)) {
    const std::string name = any_name(random).substr(0, 2000);
    for (std::size_t i = std::min<std::size_t>(random.many(), 500); i > 0; --i)
      header += entry(name + std::to_string(i)) + ",";
  }
  header += entry("last") + "}";
  std::string out;
  put<std::uint64_t>(out, random.one_in(10) ? random.number() : header.size());
  return out + header + data;
}

inline std::string any_file(Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1: return any_zip(random);
    case 2: return any_gguf(random);
    case 3: return any_safetensors(random);
    case 4: return any_json(random, 4);
    case 5: return any_npy(random);
    case 6: {  // a zTensor file, with its manifest at the end
      const std::string manifest = any_cbor(random, 5);
      std::string out = "ZTEN1000" + std::string(56, '\5') + manifest;
      put<std::uint64_t>(out, manifest.size());
      return out + "ZTEN1000";
    }
    default: return any_pickle(random);
  }
}

}  // namespace tare::fuzz
