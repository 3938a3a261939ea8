#!/usr/bin/env bash
# Prints the formula for the Homebrew tap: packaging/homebrew.sh VERSION FOLDER
# FOLDER has the checksums of the release.
set -euo pipefail

version=$1 folder=$2

source_of() {
  local name=ndjson-check-$version-$1.tar.gz sha256
  sha256=$(cut -d ' ' -f 1 "$folder/$name.sha256")
  printf '      url "https://github.com/ndjson-check/ndjson-check/releases/download/v%s/%s"\n' "$version" "$name"
  printf '      sha256 "%s"' "$sha256"
}

cat << FORMULA
class NdjsonCheck < Formula
  desc "Checks the NDJSON event stream of AI coding agents"
  homepage "https://github.com/ndjson-check/ndjson-check"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
$(source_of aarch64-apple-darwin)
    end
    on_intel do
$(source_of x86_64-apple-darwin)
    end
  end
  on_linux do
    on_arm do
$(source_of aarch64-unknown-linux-musl)
    end
    on_intel do
$(source_of x86_64-unknown-linux-musl)
    end
  end

  def install
    bin.install "ndjson-check"
    man1.install "ndjson-check.1"
    bash_completion.install "completions/ndjson-check.bash" => "ndjson-check"
    fish_completion.install "completions/ndjson-check.fish"
    zsh_completion.install "completions/_ndjson-check"
  end

  test do
    (testpath/"cut.ndjson").write "{\"type\":\"system\"}\n"
    shell_output("#{bin}/ndjson-check --profile cursor cut.ndjson", 1)
  end
end
FORMULA
