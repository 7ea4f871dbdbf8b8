/** Methods of Python's `str` that the template engine lacks. Arguments come as JavaScript values. */
export function stringMethod(text: string, name: string): ((...given: unknown[]) => unknown) | undefined {
  const method = methods[name];
  return method === undefined ? undefined : (...given) => method(text, given);
}

type Method = (text: string, given: readonly unknown[]) => unknown;

const methods: Readonly<Record<string, Method>> = Object.assign(Object.create(null), {
  find: (text, [sub]) => text.indexOf(String(sub)),
  rfind: (text, [sub]) => text.lastIndexOf(String(sub)),
  count: (text, [sub]) => (sub === "" ? [...text].length + 1 : text.split(String(sub)).length - 1),
  removeprefix: (text, [prefix]) => (text.startsWith(String(prefix)) ? text.slice(String(prefix).length) : text),
  removesuffix: (text, [suffix]) =>
    suffix !== "" && text.endsWith(String(suffix)) ? text.slice(0, -String(suffix).length) : text,
  splitlines: (text) => {
    const lines = text.split(/\r\n|[\n\r\v\f\u2028\u2029]/);
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  },
  isdigit: (text) => /^\p{Nd}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isspace: (text) => /^\p{White_Space}+$/u.test(text),
  join: (text, [items]) => (Array.isArray(items) ? items.map((item) => String(item.value)).join(text) : text),
  format: (text, given) => formatted(text, given),
} satisfies Record<string, Method>);

/** `{}`, `{0}` and `{{` of `str.format`; anything further is refused, as it would be rendered wrong. */
function formatted(text: string, given: readonly unknown[]): string {
  let next = 0;
  return text.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (all, field: string | undefined) => {
    if (field === undefined) return all.slice(1);
    if (!/^\d*$/.test(field)) throw new Error(`str.format with {${field}} is not supported`);
    const index = field === "" ? next++ : Number(field);
    if (index >= given.length) throw new Error("Replacement index out of range for str.format");
    return String(given[index]);
  });
}
