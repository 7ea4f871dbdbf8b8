/** A moment, on the wall's clock and on that of the processor time of all threads of the process. */
export type Moment = { readonly wallUs: number; readonly processorUs: number };

export function moment(): Moment {
  // First what takes a microsecond to ask for, which is nobody's then.
  const processor = processorUs();
  return { wallUs: performance.now() * 1000, processorUs: processor };
}

/**
 * Microseconds since a moment: by the wall's clock, which tells parts of one; where the process was preempted meanwhile, its processor time,
 * which tells whole ones, rounded up, and is never too little.
 */
export function since(start: Moment): number {
  const wall = performance.now() * 1000 - start.wallUs;
  const processor = processorUs() - start.processorUs + 1;
  return wall - processor > preemptionUs ? processor : wall;
}

/** That of the thread alone moves in steps of milliseconds. */
function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The shortest time that a process stays off the processor once it was taken off. */
const preemptionUs = 20;
