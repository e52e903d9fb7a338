// The reference decoders of blocks.hpp, by type.
#include "codecs/ggml/blocks.hpp"

#include <array>

namespace tare::codec::ggml {
namespace {

struct Reference {
  BlockShape shape;
  void (*decode)(const std::byte* blocks, std::size_t count, float* out);
};

constexpr std::array<Reference, 27> kReferences = {{
    {{32, 18}, decode_q4_0},     {{32, 20}, decode_q4_1},     {{32, 22}, decode_q5_0},   {{32, 24}, decode_q5_1},
    {{32, 34}, decode_q8_0},     {{32, 36}, decode_q8_1},     {{256, 84}, decode_q2_k},  {{256, 110}, decode_q3_k},
    {{256, 144}, decode_q4_k},   {{256, 176}, decode_q5_k},   {{256, 210}, decode_q6_k}, {{256, 292}, decode_q8_k},
    {{32, 18}, decode_iq4_nl},   {{256, 136}, decode_iq4_xs}, {{256, 54}, decode_tq1_0}, {{256, 66}, decode_tq2_0},
    {{32, 17}, decode_mxfp4},    {{64, 36}, decode_nvfp4},    {{128, 18}, decode_q1_0},  {{64, 18}, decode_q2_0},
    {{256, 66}, decode_iq2_xxs}, {{256, 74}, decode_iq2_xs},  {{256, 82}, decode_iq2_s}, {{256, 98}, decode_iq3_xxs},
    {{256, 110}, decode_iq3_s},  {{256, 50}, decode_iq1_s},   {{256, 56}, decode_iq1_m},
}};

}  // namespace

BlockShape shape_of(Type type) { return kReferences[static_cast<std::size_t>(type)].shape; }

void reference_decode(Type type, const std::byte* blocks, std::size_t count, float* out) {
  kReferences[static_cast<std::size_t>(type)].decode(blocks, count, out);
}

}  // namespace tare::codec::ggml
