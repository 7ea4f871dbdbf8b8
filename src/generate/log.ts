export type Level = "info" | "warn" | "error";
export type Log = (level: Level, event: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;

/** One JSON line an event, on standard error. Fields are ids, counts and times, never what a request or an answer says. */
export const log: Log = (level, event, fields = {}) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
};
