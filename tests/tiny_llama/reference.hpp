// A Tiny Llama in plain loops and double precision, written from docs/tiny-llama.md alone; it shares no code with the
// library.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tiny_llama/model.hpp"

namespace tiny_llama::testing {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

class Reference {
 public:
  explicit Reference(const TinyLlamaModel& model) : model_(model), config_(model.config()) {}

  // The logits after every token.
  Rows logits(const std::vector<std::int32_t>& tokens) const {
    const std::size_t dim = static_cast<std::size_t>(config_.model_dim);
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row row(dim);
      for (std::size_t c = 0; c < dim; ++c)
        row[c] = double{model_.weight("embedding.weight")[static_cast<std::size_t>(tokens[t]) * dim + c]} +
                 double{model_.weight("position_embedding.weight")[t * dim + c]};
      x.push_back(row);
    }
    for (int n = 0; n < config_.num_layers; ++n) {
      const std::string layer = "layers." + std::to_string(n) + ".";
      add(x, attention(norm(x, layer + "norm1"), layer + "attention."));
      add(x, feed_forward(norm(x, layer + "norm2"), layer + "ffn."));
    }
    return times(x, "output.weight", static_cast<std::size_t>(config_.vocab_size));
  }

 private:
  static void add(Rows& x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t c = 0; c < x[t].size(); ++c) x[t][c] += y[t][c];
  }

  Rows norm(const Rows& x, const std::string& name) const {
    const auto weight = model_.weight(name + ".weight"), bias = model_.weight(name + ".bias");
    Rows out = x;
    for (Row& row : out) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (std::size_t c = 0; c < row.size(); ++c)
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * double{weight[c]} + double{bias[c]};
    }
    return out;
  }

  Rows times(const Rows& x, const std::string& name, std::size_t columns) const {
    const auto w = model_.weight(name);
    Rows out(x.size(), Row(columns));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i)
        for (std::size_t c = 0; c < columns; ++c) out[t][c] += x[t][i] * double{w[i * columns + c]};
    return out;
  }

  Rows attention(const Rows& x, const std::string& name) const {
    const std::size_t dim = static_cast<std::size_t>(config_.model_dim);
    const std::size_t heads = static_cast<std::size_t>(config_.num_heads), head = dim / heads;
    const Rows q = times(x, name + "query.weight", dim), k = times(x, name + "key.weight", dim),
               v = times(x, name + "value.weight", dim);
    Rows mixed(x.size(), Row(dim));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t h = 0; h < heads; ++h) {
        Row scores(t + 1);
        double total = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          double dot = 0;
          for (std::size_t c = h * head; c < (h + 1) * head; ++c) dot += q[t][c] * k[s][c];
          scores[s] = dot / std::sqrt(static_cast<double>(head));
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        for (double& score : scores) total += score = std::exp(score - most);
        for (std::size_t s = 0; s <= t; ++s)
          for (std::size_t c = h * head; c < (h + 1) * head; ++c) mixed[t][c] += scores[s] / total * v[s][c];
      }
    return times(mixed, name + "output.weight", dim);
  }

  Rows feed_forward(const Rows& x, const std::string& name) const {
    Rows hidden = times(x, name + "linear1.weight", static_cast<std::size_t>(config_.ffn_hidden_dim));
    const auto bias1 = model_.weight(name + "linear1.bias"), bias2 = model_.weight(name + "linear2.bias");
    const double pi = std::acos(-1.0);
    for (Row& row : hidden)
      for (std::size_t c = 0; c < row.size(); ++c) {
        const double v = row[c] + double{bias1[c]};
        row[c] = 0.5 * v * (1 + std::tanh(std::sqrt(2 / pi) * (v + 0.044715 * v * v * v)));
      }
    Rows out = times(hidden, name + "linear2.weight", static_cast<std::size_t>(config_.model_dim));
    for (Row& row : out)
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += double{bias2[c]};
    return out;
  }

  const TinyLlamaModel& model_;
  ModelConfig config_;
};

}  // namespace tiny_llama::testing
