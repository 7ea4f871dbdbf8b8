import { describe, expect, test } from "bun:test";
import { readJson } from "../grammar/json-text.ts";
import { jsonBounds } from "./history.ts";
import { compileTemplate } from "./jinja.ts";
import { Json } from "./values.ts";

function render(source: string, variables: Readonly<Record<string, unknown>> = {}): string {
  const template = compileTemplate(source);
  if (!template.ok) return `does not parse: ${template.failure}`;
  const rendered = template.value.run(variables, new Date(2026, 2, 7, 9, 5, 6));
  return rendered.ok ? rendered.value : `fails: ${rendered.failure}`;
}

// What Python 3 with Jinja2 3.1 renders for each.
const cases: readonly [source: string, text: string][] = [
  ["{{ none }} {{ true }} {{ false }} {{ missing }}|", "None True False |"],
  ["{{ 1.0 }} {{ 1 / 100000 }} {{ 2 / 1 }} {{ 10000000000000000.0 }} {{ 7 // 2 }}", "1.0 1e-05 2.0 1e+16 3"],
  ["{{ [1, 'a', none, true, 2.5, [], {}] }}", "[1, 'a', None, True, 2.5, [], {}]"],
  ["{{ {'k': \"it's\", 'l': 'say \"x\"', 'm': 'a\\nb\\\\'} }}", "{'k': \"it's\", 'l': 'say \"x\"', 'm': 'a\\nb\\\\'}"],
  ["{{ 'a' ~ none ~ 1 ~ true ~ missing ~ [1] }}", "aNone1True[1]"],
  [
    "{{ [1, 2] == [1, 2] }} {{ {'a': [1]} == {'a': [1]} }} {{ [1] == [2] }} {{ [1] != [1.0] }}",
    "True True False False",
  ],
  [
    "{{ none == missing }} {{ 1 == '1' }} {{ 1 == true }} {{ 1 == 1.0 }} {{ '' == none }}",
    "False False True True False",
  ],
  ["{{ none | string }} {{ true | string }} {{ [1] | string }}", "None True [1]"],
  ["{% for x in missing %}x{% else %}none{% endfor %} {{ missing | length }} {{ missing | trim }}|", "none 0 |"],
  ["{{ missing is iterable }} {{ missing is not iterable }} {{ missing is string }}", "True False False"],
  ["{{ none | selectattr('a') | list | length }}", "0"],
  [
    "{% set d = {'items': 1, 'get': 2} %}{% for k, v in d.items() %}{{ k }}{{ v }} {% endfor %}{{ d['items'] }}",
    "items1 get2 1",
  ],
  ["{% for a, b in [('x', 1), ('y', 2)] %}{{ a }}{{ b }}{% endfor %}", "x1y2"],
  ["{% set d = {1: 'a', 20: 'b'} %}{{ d[20] }}", "b"],
  ["{{ [3, 1, 2] | min }}{{ [3, 1, 2] | max }}", "13"],
  [
    "{{ '<x{}>'.format('y') }} {{ '{1}{0}{{'.format(1, 2) }} {{ 'abcabc'.find('c') }} {{ 'a,b'.count(',') }}",
    "<xy> 21{ 2 1",
  ],
  ["{{ 'xay'.removeprefix('x').removesuffix('y') }} {{ ', '.join(['a', 'b']) }} {{ '12'.isdigit() }}", "a a, b True"],
  ["{% set l = [1] %}{% set _ = l.append(2) %}{{ l }}{{ l.pop(0) }}{{ l }}", "[1, 2]1[2]"],
  ["{% set ns = namespace(a=1) %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "4"],
  ["{{ range(2, 8, 3) }} {{ range(0) }}", "[2, 5] []"],
  ["{{ 'é<&>' | tojson }} {{ {'a': [1, 2.5, none]} | tojson }}", '"é<&>" {"a": [1, 2.5, null]}'],
  ["{% macro f(x, y=2) %}{{ x }}{{ y }}{% endmacro %}{{ f(none) }}{{ f(1, y=true) }}", "None21True"],
  ["{{ strftime_now('%d %B %Y, %H:%M:%S %a %j') }}", "07 March 2026, 09:05:06 Sat %j"],
  ["  {% if true %}\n  x\n  {% endif %}\ny", "  x\ny"],
  ["{{ missing.a }}", "fails: a of a value that is undefined"],
  ["{{ 'a' + 1 }}", "fails: can only concatenate texts, not StringValue and IntegerValue"],
  ["{{ '%{x}'.format(x=1) }}", "fails: str.format with {x} is not supported"],
];

describe("Python's results", () => {
  for (const [source, text] of cases) test(source, () => expect(render(source)).toBe(text));
});

test("JSON keeps the order of its keys and the text of its numbers", () => {
  const text = '{"b": 1.0, "2": 12345678901234567890, "1": [1e5, -0, 0.1], "a": "\\u00e9", "n": null}';
  const json = readJson(text, jsonBounds);
  if (!json.ok) throw new Error(json.failure.message);
  expect(render("{{ v | tojson }}", { v: new Json(json.value.root) })).toBe(text.replace("\\u00e9", "é"));
  expect(render("{% for k, x in v.items() %}{{ k }}={{ x }};{% endfor %}", { v: new Json(json.value.root) })).toBe(
    "b=1.0;2=12345678901234567890;1=[1e5, -0, 0.1];a=é;n=None;",
  );
  expect(render("{{ v['b'] + 1 > 1.5 }} {{ v['b'] == 1 }}", { v: new Json(json.value.root) })).toBe("True True");
});

test("a caller's variable wins over a global, and the clock stands still", () => {
  expect(render("{{ range }} {{ strftime_now('%Y') }}", { range: "mine" })).toBe("mine 2026");
});
