// Recordings that gzip has packed.

const SIZE_MAX = 1_000_000_000;

/** Whether a file begins as gzip writes it. No line of a recording begins so. */
export async function isPacked(blob: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

export async function unpack(blob: Blob, sizeMax = SIZE_MAX): Promise<Blob> {
  const reader = blob.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts: BlobPart[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts);
      size += value.length;
      if (size > sizeMax) throw new RangeError("the gzip file is too large to unpack here; use `ndjson-check`");
      parts.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    // A file that cannot be read, such as one that was deleted, and a lack of memory.
    if (error instanceof DOMException || error instanceof RangeError) throw error;
    throw new Error("the gzip file is damaged, not complete, or has several parts; `ndjson-check` reads what is there");
  }
}
