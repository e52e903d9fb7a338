#include "device/kernels_ptx.hpp"

#include "base/forever.hpp"

namespace tare::device {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";

struct Texts {
  std::string_view head;
  std::vector<Ptx> kernels;

  Texts() {
    std::string_view all = kernel_files().front().text;
    all.remove_prefix(all.find(".version"));  // our own comments precede it
    std::size_t at = all.find(kEntry);
    head = all.substr(0, at);
    while (at != std::string_view::npos) {
      const std::size_t next = all.find(kEntry, at + kEntry.size());
      const std::string_view text = all.substr(at, next == std::string_view::npos ? next : next - at);
      const std::string_view named = text.substr(kEntry.size());
      kernels.push_back({named.substr(0, named.find('(')), text});
      at = next;
    }
  }
};

const Texts& texts() {
  static Forever<Texts> all;
  return *all;
}

}  // namespace

std::string_view ptx_head() { return texts().head; }
std::span<const Ptx> all_ptx() { return texts().kernels; }

}  // namespace tare::device
