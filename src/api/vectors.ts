/** The first `dimensions` elements of a vector, all where that is undefined, with length one again. */
export function cut(vector: Float32Array, dimensions: number | undefined): Float32Array {
  if (dimensions === undefined) return vector;
  const kept = vector.subarray(0, dimensions);
  const norm = Math.hypot(...kept);
  return norm === 0 ? kept : kept.map((element) => element / norm);
}
