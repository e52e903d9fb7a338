# For Homebrew on Linux. `make release` fills it in (tools/release/recipes): brew install --build-from-source build/dist/tare.rb
class Tare < Formula
  desc "Look at, check, convert and quantize model-weight files"
  homepage "https://pypi.org/project/tare-weights/"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "fmt"
  depends_on "highway"
  depends_on "isa-l"
  depends_on "libmicrohttpd"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "simdjson"
  depends_on "utf8proc"
  depends_on "xxhash"
  depends_on "zlib"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTARE_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tare version")
    system bin/"tare", "demo", "--force", "demo"
    system bin/"tare", "verify", "demo/demo.zt", "demo/demo.gguf"
  end
end
