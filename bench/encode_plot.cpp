// The plot in docs/mcf-methods.md: error over bits per weight, one dot per method and kind of scales.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "encode.hpp"

namespace bench {
namespace {

constexpr double kWidth = 720, kHeight = 440, kLeft = 70, kRight = 20, kTop = 30, kBottom = 50;
constexpr double kLeastBits = 2, kMostBits = 9, kLeastError = 0.003, kMostError = 1;

double x_of(double bits) { return kLeft + (bits - kLeastBits) / (kMostBits - kLeastBits) * (kWidth - kLeft - kRight); }
double y_of(double error) {
  const double share = std::log(error / kLeastError) / std::log(kMostError / kLeastError);
  return kHeight - kBottom - share * (kHeight - kTop - kBottom);
}

std::string words(double x, double y, std::string_view text, std::string_view anchor, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, text);
}

std::string axes() {
  std::string out;
  for (int bits = 2; bits <= 9; ++bits) {
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x_of(bits), kTop,
                       kHeight - kBottom);
    out += words(x_of(bits), kHeight - kBottom + 18, fmt::format("{}", bits), "middle");
  }
  for (const double error : {0.003, 0.01, 0.03, 0.1, 0.3, 1.0}) {
    out += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kLeft,
                       kWidth - kRight, y_of(error));
    out += words(kLeft - 8, y_of(error) + 4, fmt::format("{}", error), "end");
  }
  out += words((kLeft + kWidth) / 2, kHeight - 10, "bits per weight", "middle");
  out += words(-kHeight / 2, 18, "relative rms error", "middle", " transform=\"rotate(-90)\"");
  return out;
}

std::string dot(std::string_view css, double bits, double error) {
  return fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"/>\n", css, x_of(bits), y_of(error));
}

std::string legend() {
  constexpr std::pair<std::string_view, std::string_view> kEntries[] = {{"gs", "Gaussian weights, scales searched"},
                                                                        {"gf", "Gaussian weights, fast"},
                                                                        {"ls", "Laplace weights, scales searched"},
                                                                        {"lf", "Laplace weights, fast"}};
  std::string out;
  double y = kTop + 16;
  for (const auto& [css, text] : kEntries) {
    out += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"4.5\"/>\n", css, kWidth - 260, y - 4);
    out += words(kWidth - 248, y, text, "start");
    y += 18;
  }
  return out;
}

}  // namespace

std::string draw_errors(const std::vector<MethodError>& methods) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<style>text{{font:13px sans-serif;fill:#333}}.grid{{stroke:#ddd}}circle{{stroke-width:1.5}}"
      ".gs{{fill:#1a6fb5;stroke:#1a6fb5}}.gf{{fill:#fff;stroke:#1a6fb5}}.ls{{fill:#c4601d;stroke:#c4601d}}"
      ".lf{{fill:#fff;stroke:#c4601d}}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  out += axes() + legend();
  for (const MethodError& m : methods) {
    out += dot("lf", m.bits, m.laplace.fast) + dot("gf", m.bits, m.gaussian.fast);
    out += dot("ls", m.bits, m.laplace.searched) + dot("gs", m.bits, m.gaussian.searched);
    const double lowest = std::min({m.gaussian.fast, m.gaussian.searched, m.laplace.fast, m.laplace.searched});
    out += words(x_of(m.bits), y_of(lowest) + 20, m.method, "middle");
  }
  return out + "</svg>\n";
}

}  // namespace bench
