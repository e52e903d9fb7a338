#include "device/jobs.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "device/file_reader.hpp"

namespace tare::device {
namespace {

// Runs of a part along an inner axis are read separately from this length on.
constexpr std::uint64_t kLongRun = std::uint64_t{64} << 10;
constexpr std::uint64_t kWhole = 16;  // pieces are divided at multiples of this: whole elements

class Cutter {
 public:
  Cutter(const Pieces& pieces, std::uint64_t chunk_bytes, const std::vector<char>& in_order)
      : pieces_(pieces.all), slot_(chunk_bytes), in_order_(in_order) {}

  Work cut() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      if (piece.bytes == 0) continue;
      if (!piece.in_file())
        cut_pulled(i);
      else if (piece.decodes())
        cut_units(i);
      else if (piece.runs > 1)
        cut_runs(i);
      else
        add_plain(i);
    }
    close();
    // Jobs that occupy one thread for long come first, the longest at the beginning; the others are in file order.
    std::stable_sort(work_.jobs.begin(), work_.jobs.end(),
                     [this](const Job& a, const Job& b) { return alone(a) > alone(b); });
    return std::move(work_);
  }

 private:
  std::uint64_t alone(const Job& job) const {
    if (job.pulled) return job.end - job.begin;
    return job.end - job.begin > 1 ? (job.end - job.begin) * slot_ : 0;
  }
  // Ends the current chunk and makes it a job.
  void close() {
    if (chunk_.shares == 0) return;
    work_.jobs.push_back({false, 0, work_.chunks.size(), work_.chunks.size() + 1});
    work_.chunks.push_back(chunk_);
    chunk_ = {};
  }

  void begin(const Piece& piece, std::uint64_t offset) {
    chunk_ = {Chunk::Kind::run, piece.file, offset, offset, work_.shares.size(), 0};
  }

  // How many bytes at `offset` of the file still fit the current chunk.
  std::uint64_t room(std::uint64_t offset) const {
    const std::uint64_t limit = chunk_.begin / kSector * kSector + slot_;
    return offset >= limit ? 0 : limit - offset;
  }

  void share(std::size_t piece, std::uint64_t from, std::uint64_t bytes) {
    const std::uint64_t at = chunk_.begin % kSector + (pieces_[piece].begin + from - chunk_.begin);
    work_.shares.push_back({static_cast<std::uint32_t>(piece), static_cast<std::uint32_t>(at), from, bytes});
    ++chunk_.shares;
    chunk_.end = pieces_[piece].begin + from + bytes;
  }

  void add_plain(std::size_t number) {
    const Piece& piece = pieces_[number];
    if (chunk_.shares > 0 && !(piece.joined && piece.file == chunk_.file && piece.begin >= chunk_.end)) close();
    const bool whole = in_order_[number] != 0;
    if (whole && chunk_.shares > 0 && room(piece.begin) < piece.run) close();
    if (whole && piece.begin % kSector + piece.run > slot_) return add_sequence(number);
    add_run(number, 0, piece.run);
  }

  void add_run(std::size_t number, std::uint64_t from, std::uint64_t bytes) {
    const Piece& piece = pieces_[number];
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t at = piece.begin + from + done;
      if (chunk_.shares == 0) begin(piece, at);
      const std::uint64_t part = fitting(room(at), bytes - done);
      if (part == 0) {
        close();
        continue;
      }
      share(number, from + done, part);
      done += part;
      if (done < bytes) close();
    }
  }

  static std::uint64_t fitting(std::uint64_t room, std::uint64_t left) {
    return left <= room ? left : room / kWhole * kWhole;
  }

  // A piece that one thread hashes from front to back.
  void add_sequence(std::size_t number) {
    const Piece& piece = pieces_[number];
    close();
    const std::size_t first = work_.chunks.size();
    for (std::uint64_t done = 0; done < piece.run;) {
      begin(piece, piece.begin + done);
      const std::uint64_t part = fitting(room(piece.begin + done), piece.run - done);
      share(number, done, part);
      done += part;
      work_.chunks.push_back(chunk_);
      chunk_ = {};
    }
    work_.jobs.push_back({false, 0, first, work_.chunks.size()});
  }

  void cut_runs(std::size_t number) {
    const Piece& piece = pieces_[number];
    close();
    if (piece.run >= kLongRun) {
      for (std::uint64_t row = 0; row < piece.runs; ++row) cut_long_run(number, row);
      return;
    }
    const std::uint64_t rows = std::max<std::uint64_t>(slot_ / piece.run, 1);
    for (std::uint64_t row = 0; row < piece.runs; row += rows) {
      const std::uint64_t end = std::min(row + rows, piece.runs);
      chunk_ = {Chunk::Kind::gather, piece.file, row, end, work_.shares.size(), 1};
      work_.shares.push_back({static_cast<std::uint32_t>(number), 0, row * piece.run, (end - row) * piece.run});
      close();
    }
  }

  void cut_long_run(std::size_t number, std::uint64_t row) {
    const Piece& piece = pieces_[number];
    const std::uint64_t first = piece.begin + row * piece.stride;
    for (std::uint64_t done = 0; done < piece.run;) {
      begin(piece, first + done);
      const std::uint64_t part = fitting(room(first + done), piece.run - done);
      work_.shares.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(chunk_.begin % kSector),
                              row * piece.run + done, part});
      chunk_.shares = 1;
      chunk_.end = first + done + part;
      done += part;
      close();
    }
  }

  void cut_units(std::size_t number) {
    const Piece& piece = pieces_[number];
    const DeviceDecode& decode = piece.decode;
    close();
    std::uint64_t unit = 0, overhead = 0;
    for (const Plane& plane : decode.planes) {
      unit += ceil_div(plane.unit_bytes, plane.units);
      overhead += kPlaneAlignment + (plane.units > 1 ? 2 * plane.unit_bytes : 0);
    }
    const std::uint64_t fit = (slot_ - overhead) / unit;
    const std::size_t first = work_.chunks.size();
    const bool whole = in_order_[number] != 0;
    for (std::uint64_t at = 0; at < decode.units; at += fit) {
      const std::uint64_t end = std::min(at + fit, decode.units);
      chunk_ = {Chunk::Kind::units, piece.file, at, end, work_.shares.size(), 1};
      const std::uint64_t out = std::min(end * decode.unit_out, piece.bytes) - at * decode.unit_out;
      work_.shares.push_back({static_cast<std::uint32_t>(number), 0, at * decode.unit_out, out});
      if (!whole) {
        close();
        continue;
      }
      work_.chunks.push_back(chunk_);
      chunk_ = {};
    }
    if (whole) work_.jobs.push_back({false, 0, first, work_.chunks.size()});
  }

  void cut_pulled(std::size_t number) {
    const Piece& piece = pieces_[number];
    close();
    std::uint64_t step = 0;
    try {
      step = piece.blob.seek_granularity();
    } catch (const Error&) {
      step = 0;  // reading throws the same error, with the tensor's name
    }
    // If the blob is seekable, a job is a few slots.
    const std::uint64_t steps = step == 0 ? 0 : ceil_div(std::max(std::uint64_t{1}, 4 * slot_ / step), kWhole) * kWhole;
    const std::uint64_t most = step == 0 ? piece.bytes : steps * step;
    for (std::uint64_t at = 0; at < piece.bytes; at += std::min(most, piece.bytes - at))
      work_.jobs.push_back({true, static_cast<std::uint32_t>(number), at, at + std::min(most, piece.bytes - at)});
  }

  const std::vector<Piece>& pieces_;
  std::uint64_t slot_;
  const std::vector<char>& in_order_;
  Work work_;
  Chunk chunk_;
};

}  // namespace

Work make_work(const Pieces& pieces, std::uint64_t chunk_bytes, const std::vector<char>& in_order) {
  return Cutter(pieces, chunk_bytes, in_order).cut();
}

PlaneRange plane_range(const Plane& plane, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t begin = first / plane.units * plane.unit_bytes;
  return {begin, std::min(ceil_div(end, plane.units) * plane.unit_bytes, plane.bytes) - begin};
}

}  // namespace tare::device
