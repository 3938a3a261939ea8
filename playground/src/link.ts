// A recording in the fragment of an address, which no browser sends to a server.

/** Most bytes that a link is unpacked to. */
const UNPACKED_MAX = 20_000_000;

export async function toLink(blob: Blob): Promise<string> {
  const packed = blob.stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const text = btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return `#recording=${text}`;
}

export async function fromLink(text: string): Promise<Blob> {
  const letters = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts: BlobPart[] = [];
  for (let size = 0; size <= UNPACKED_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    parts.push(value as BlobPart);
    size += value.length;
  }
  throw new Error("the recording is too long");
}
