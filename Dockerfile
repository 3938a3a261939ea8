# An image with nothing but the static binary. It checks files and pipes:
#   docker run --rm -i ghcr.io/ndjson-check/ndjson-check < run.ndjson
#   docker run --rm -v "$PWD:/work:ro" ghcr.io/ndjson-check/ndjson-check recordings/

# The compiler runs on the machine that builds, for the machine that will run it.
FROM --platform=$BUILDPLATFORM rust:1.89-alpine AS build
ARG TARGETARCH
WORKDIR /src
COPY . .
RUN case "$TARGETARCH" in arm64) arch=aarch64 ;; *) arch=x86_64 ;; esac \
    && target=$arch-unknown-linux-musl \
    && rustup target add "$target" \
    && RUSTFLAGS="-C linker=rust-lld -C target-feature=+crt-static" \
       cargo build --release --locked --target "$target" \
    && cp "target/$target/release/ndjson-check" /ndjson-check

FROM scratch
COPY --from=build /ndjson-check /ndjson-check
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/ndjson-check"]
