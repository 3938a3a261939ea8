// Recordings that gzip has packed.

/** Whether a file begins as gzip writes it. No line of a recording begins so. */
export async function isPacked(blob: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

export async function unpack(blob: Blob): Promise<Blob> {
  try {
    return await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  } catch {
    throw new Error("the gzip file is damaged or not complete; `ndjson-check` reads what is there");
  }
}
