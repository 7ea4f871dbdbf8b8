/**
 * Byte-pair merging: of all neighbours that may be joined, the best pair first, the leftmost of equal ones, until there
 * is none. O(n log n) in the symbols of one piece, by a heap whose outdated entries are skipped when they come up.
 */
export type Pairs = {
  /**
   * How the neighbours `left` and `right`, which spell bytes[start, end) together, may be joined: a handle ≥ 0, or -1.
   * Symbols that are no token are -1.
   */
  find(left: number, right: number, bytes: Uint8Array, start: number, end: number): number;
  /** Lower is better. */
  priority(handle: number): number;
  /** The token that they become. */
  result(handle: number): number;
};

/**
 * The symbols of one piece: pushed from left to right, merged, read from `first` along `next`. One object serves piece
 * after piece, so that merging allocates nothing once its arrays are large enough.
 */
export class Symbols {
  count = 0;
  /** Token of each symbol, -1 where its bytes are no token. */
  tokens = new Int32Array(64);
  /** Symbol i spells bytes[starts[i], ends[i]). */
  starts = new Uint32Array(64);
  ends = new Uint32Array(64);
  /** The symbol after it, -1 for none; a symbol that was joined to the one before it has itself. */
  next = new Int32Array(64);
  #previous = new Int32Array(64);
  readonly #heap = new PairHeap();

  push(token: number, start: number, end: number): void {
    if (this.count === this.tokens.length) {
      this.tokens = doubled(this.tokens, Int32Array);
      this.starts = doubled(this.starts, Uint32Array);
      this.ends = doubled(this.ends, Uint32Array);
      this.next = doubled(this.next, Int32Array);
      this.#previous = doubled(this.#previous, Int32Array);
    }
    this.tokens[this.count] = token;
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.next[this.count] = -1;
    this.#previous[this.count] = this.count - 1;
    if (this.count > 0) this.next[this.count - 1] = this.count;
    this.count++;
  }

  merge(bytes: Uint8Array, pairs: Pairs): void {
    const { tokens, ends, next } = this;
    const previous = this.#previous;
    const heap = this.#heap;
    heap.clear();
    for (let right = 1; right < this.count; right++) this.#offer(right - 1, right, bytes, pairs);
    for (let entry = heap.pop(); entry >= 0; entry = heap.pop()) {
      const left = heap.lefts[entry] ?? 0;
      const right = next[left] ?? -1;
      const end = heap.ends[entry] ?? 0;
      // Outdated: one of the two was joined with another neighbour since.
      if (right < 0 || right === left || ends[right] !== end) continue;
      const after = next[right] ?? -1;
      const before = previous[left] ?? -1;
      tokens[left] = pairs.result(heap.handles[entry] ?? 0);
      ends[left] = end;
      next[left] = after;
      next[right] = right;
      if (after >= 0) previous[after] = left;
      if (before >= 0) this.#offer(before, left, bytes, pairs);
      if (after >= 0) this.#offer(left, after, bytes, pairs);
    }
  }

  #offer(left: number, right: number, bytes: Uint8Array, pairs: Pairs): void {
    const { tokens, starts, ends } = this;
    const end = ends[right] ?? 0;
    const handle = pairs.find(tokens[left] ?? -1, tokens[right] ?? -1, bytes, starts[left] ?? 0, end);
    if (handle >= 0) this.#heap.push(pairs.priority(handle), left, end, handle);
  }
}

/** A binary heap of entries by (priority, left). An entry is two neighbours: the symbol `left` and the one that ends at `end`. */
class PairHeap {
  priorities = new Float64Array(128);
  lefts = new Int32Array(128);
  ends = new Uint32Array(128);
  handles = new Int32Array(128);
  #entries = 0;
  /** Entries as a heap. */
  #heap = new Int32Array(128);
  #size = 0;

  clear(): void {
    this.#entries = 0;
    this.#size = 0;
  }

  push(priority: number, left: number, end: number, handle: number): void {
    if (this.#entries === this.lefts.length) {
      this.priorities = doubled(this.priorities, Float64Array);
      this.lefts = doubled(this.lefts, Int32Array);
      this.ends = doubled(this.ends, Uint32Array);
      this.handles = doubled(this.handles, Int32Array);
      this.#heap = doubled(this.#heap, Int32Array);
    }
    const entry = this.#entries++;
    this.priorities[entry] = priority;
    this.lefts[entry] = left;
    this.ends[entry] = end;
    this.handles[entry] = handle;
    const heap = this.#heap;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] ?? 0;
      if (!this.#before(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  /** The best entry, which leaves the heap; -1 when it is empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const heap = this.#heap;
    const best = heap[0] ?? -1;
    const size = --this.#size;
    const last = heap[size] ?? 0;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#before(heap[child + 1] ?? 0, heap[child] ?? 0)) child++;
      const below = heap[child] ?? 0;
      if (!this.#before(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return best;
  }

  #before(a: number, b: number): boolean {
    const difference = (this.priorities[a] ?? 0) - (this.priorities[b] ?? 0);
    return difference < 0 || (difference === 0 && (this.lefts[a] ?? 0) < (this.lefts[b] ?? 0));
  }
}

type Numbers = { readonly length: number; set(values: ArrayLike<number>): void };

function doubled<T extends Numbers & ArrayLike<number>>(old: T, kind: new (length: number) => T): T {
  const larger = new kind(old.length * 2);
  larger.set(old);
  return larger;
}
