/** What set-up cannot do by itself; the message says what to install or set. */
export class SetupFailure extends Error {}

const bunVersionMin = "1.4.5";

/** Earlier versions have another implementation of bun:ffi, and lack what the scripts use. */
export function requireBun(): void {
  if (Bun.semver.order(Bun.version, bunVersionMin) >= 0) return;
  throw new SetupFailure(
    `Tenon needs Bun ${bunVersionMin} or later, this is ${Bun.version}.\n` +
      `Run \`bun upgrade\`, or use \`npx -y bun@${bunVersionMin} run …\`, which needs only Node.`,
  );
}
