/** A moment, on the wall's clock and on that of this thread's processor time. */
export type Moment = { readonly wallUs: number; readonly threadUs: number };

export function moment(): Moment {
  const { user, system } = process.threadCpuUsage();
  return { wallUs: performance.now() * 1000, threadUs: user + system };
}

/**
 * Microseconds since a moment: by the wall's clock, which tells parts of one; where the thread was preempted meanwhile, its processor time,
 * which tells whole ones, rounded up.
 */
export function since({ wallUs, threadUs }: Moment): number {
  const wall = performance.now() * 1000 - wallUs;
  const { user, system } = process.threadCpuUsage();
  const thread = user + system - threadUs + 1;
  return wall - thread > preemptionUs ? thread : wall;
}

/** The shortest time that a thread stays off the processor once it was taken off. */
const preemptionUs = 20;
