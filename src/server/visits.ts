/** The requests that came in and are not answered to the last byte yet. */
export type Visits = {
  readonly count: number;
  /** `gone` aborts with the client's own signal, or when the server can wait no longer. */
  enter(gone: AbortSignal): Visit;
  /** Ends all of them early. */
  cancel(): void;
  /** Resolves as soon as there is none. */
  empty(): Promise<void>;
};

export type Visit = {
  readonly signal: AbortSignal;
  /** May be called more than once. */
  leave(): void;
};

export function createVisits(): Visits {
  const open = new Set<AbortController>();
  const waiting: (() => void)[] = [];
  return {
    get count() {
      return open.size;
    },
    enter(gone) {
      const controller = new AbortController();
      open.add(controller);
      const abort = () => controller.abort();
      if (gone.aborted) abort();
      else gone.addEventListener("abort", abort, { once: true });
      return {
        signal: controller.signal,
        leave() {
          gone.removeEventListener("abort", abort);
          open.delete(controller);
          if (open.size === 0) for (const resolve of waiting.splice(0)) resolve();
        },
      };
    },
    cancel() {
      for (const controller of open) controller.abort();
    },
    async empty() {
      if (open.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
