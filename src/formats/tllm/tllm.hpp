// Shared by the reader and the writer of Tiny Llama weight files: the header and the tensors that it implies.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace tare::tllm {

inline constexpr std::uint32_t kMagic = 0x544C4C4D;         // on disk 4D 4C 4C 54
inline constexpr std::uint32_t kSwappedMagic = 0x4D4C4C54;  // written in the other byte order
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kHeaderBytes = 36;
inline constexpr std::string_view kArchitecture = "tiny_llama";
inline constexpr std::size_t kLayerTensors = 12;
// The document's default.
inline constexpr float kDefaultDropout = 0.1f;

// Metadata keys for values that other containers may have no field for.
inline constexpr std::string_view kHeadsKey = "tllm.num_heads";
inline constexpr std::string_view kPositionsKey = "tllm.max_sequence_length";
inline constexpr std::string_view kDropoutKey = "tllm.dropout";

struct Header {
  std::int32_t dim = 0, layers = 0, heads = 0, ffn = 0, positions = 0, vocab = 0;
  float dropout = kDefaultDropout;
};

// The six integers in file order, with the document's names.
struct HeaderField {
  std::string_view name;
  std::int32_t Header::*member;
};
inline constexpr std::array<HeaderField, 6> kFields = {{{"model dimension", &Header::dim},
                                                        {"number of layers", &Header::layers},
                                                        {"number of heads", &Header::heads},
                                                        {"FFN hidden dimension", &Header::ffn},
                                                        {"max sequence length", &Header::positions},
                                                        {"vocabulary size", &Header::vocab}}};

// The config fields that correspond to the header's fields.
inline constexpr OwnField kOwnFields[] = {{"vocab_size", "vocabulary size"},
                                          {"hidden_size", "model dimension"},
                                          {"intermediate_size", "FFN hidden dimension"},
                                          {"num_hidden_layers", "number of layers"},
                                          {"num_attention_heads", "number of heads"},
                                          {"max_position_embeddings", "max sequence length"}};

// A broken rule of the header, with the offset of the field.
struct HeaderProblem {
  std::string_view rule, item;
  std::string sentence;
  std::uint64_t offset = 0;
};
std::vector<HeaderProblem> check_header(const Header& header);

// Calls `visit` for every tensor that the header implies, in file order, until it returns false. Matrices have two
// dimensions and vectors one; `dims` beyond `rank` is not used.
struct Place {
  std::string name;
  std::size_t rank = 2;
  std::array<std::uint64_t, 2> dims{};

  Shape shape() const { return rank == 2 ? Shape{dims[0], dims[1]} : Shape{dims[0]}; }
  std::uint64_t dims_bytes() const { return 8 * rank; }
  // Cannot overflow: each dimension is below 2^31.
  std::uint64_t data_bytes() const { return 4 * dims[0] * (rank == 2 ? dims[1] : 1); }
};
void for_each_place(const Header& header, const std::function<bool(const Place&)>& visit);

// Returns the size of the whole file in bytes; nothing if it overflows 64 bits.
std::optional<std::uint64_t> file_bytes(const Header& header);
std::size_t tensor_count(const Header& header);

// Derives the header from a model. Throws one Error with the caller's `rule`, which lists everything that is missing,
// superfluous or of another shape or type, and everything that config and metadata omit or contradict.
Header header_for(const Model& model, std::string_view rule);

Model read(const Input& input, const ReadOptions& options);
void write(const Model& model, Sink& sink, const WriteOptions& options);
std::vector<Change> remarks(const Model& model, const WriteOptions& options);

}  // namespace tare::tllm
