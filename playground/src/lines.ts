// Where the lines of a recording begin.

/** More lines have no known place: their number is shown, and not their text. */
const LINES_MAX = 4_000_000;

/** Collects the offsets of lines from bytes that come in pieces. */
export class LineStarts {
  #starts = new Float64Array(1_024);
  #count = 1;
  #bytes = 0;

  add(bytes: Uint8Array): void {
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
      if (this.#count === LINES_MAX) break;
      if (this.#count === this.#starts.length) {
        const more = new Float64Array(Math.min(this.#count * 2, LINES_MAX));
        more.set(this.#starts);
        this.#starts = more;
      }
      this.#starts[this.#count++] = this.#bytes + at + 1;
    }
    this.#bytes += bytes.length;
  }

  /** The offset of each line, and at last the end of the recording. */
  finish(): Float64Array {
    const starts = new Float64Array(this.#count + 1);
    starts.set(this.#starts.subarray(0, this.#count));
    starts[this.#count] = this.#bytes;
    return starts;
  }
}

export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Where a line is, counted from 1, without its line feed. */
export function placeOf(starts: Float64Array, line: number): Place | undefined {
  const [start, next] = [starts[line - 1], starts[line]];
  if (start === undefined || next === undefined) return undefined;
  const isLast = line === starts.length - 1;
  return { start, end: isLast ? next : next - 1 };
}
