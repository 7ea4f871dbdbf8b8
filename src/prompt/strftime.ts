/** Python's `datetime.strftime` in the C locale, for the codes that chat templates use; others stay as they are. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (all, dash: string, code: string) => {
    const field = fields[code]?.(date);
    if (field === undefined) return all;
    return dash === "-" ? field.replace(/^0+(?=.)/, "") : field;
  });
}

const months = "January February March April May June July August September October November December".split(" ");
const days = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const two = (value: number) => String(value).padStart(2, "0");

const fields: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()).padStart(4, "0"),
  y: (date) => two(date.getFullYear() % 100),
  m: (date) => two(date.getMonth() + 1),
  B: (date) => months[date.getMonth()] ?? "",
  b: (date) => (months[date.getMonth()] ?? "").slice(0, 3),
  d: (date) => two(date.getDate()),
  A: (date) => days[date.getDay()] ?? "",
  a: (date) => (days[date.getDay()] ?? "").slice(0, 3),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  p: (date) => (date.getHours() < 12 ? "AM" : "PM"),
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  "%": () => "%",
};
