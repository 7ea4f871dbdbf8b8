/** Time as the door needs it, so that a test can be the one who lets it pass. */
export type Clock = {
  /** Milliseconds from some beginning. */
  now(): number;
  /** Runs `due` once, this many milliseconds from now, unless the returned function is called before. */
  after(ms: number, due: () => void): () => void;
};

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, due) {
    const timer = setTimeout(due, ms);
    return () => clearTimeout(timer);
  },
};
