import { expect, test } from "bun:test";
import { Derivatives } from "../regex/derivative.ts";
import { Languages } from "../regex/language.ts";
import { formatLanguage, formatLanguages, formats } from "./formats.ts";

/** Beside these the test suite of JSON Schema judges every format (tests/json-schema-suite.test.ts). */
const cases: readonly [format: string, accepted: readonly string[], rejected: readonly string[]][] = [
  ["date", ["2024-02-29", "2000-02-29", "1900-02-28"], ["1900-02-29", "2023-04-31", "2023-13-01", "2023-1-01"]],
  ["time", ["23:59:59Z", "00:00:00.5+23:59", "23:59:60z"], ["24:00:00Z", "12:00:00", "22:59:60Z"]],
  [
    "date-time",
    ["2024-02-29T12:00:00Z", "1985-04-12t23:20:50.52-08:00"],
    ["2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z"],
  ],
  ["duration", ["P1Y2M3DT4H5M6S", "P2W", "PT1H1M"], ["P", "PT", "P1Y2W", "P1D1Y", "PT1H1S"]],
  ["email", ["a.b+c@x.test", '"a b"@x.test', "a@[127.0.0.1]"], ["a..b@x.test", "a@", "@x.test", "a@-x.test"]],
  ["idn-email", ["ж@почта.test", "a@x.test"], ["ж@", "2962"]],
  ["hostname", ["a", "a-b.c", "a--b"], ["-a", "a-", "a_b", "ab--c", `${"a".repeat(64)}`]],
  ["idn-hostname", ["почта.test", "l·l", "אב.גד"], ["a·l", "-а", "אa", "ab--c"]],
  ["ipv4", ["0.0.0.0", "255.1.20.9"], ["256.1.1.1", "01.1.1.1", "1.1.1"]],
  [
    "ipv6",
    ["::", "::1", "1:2:3:4:5:6:7:8", "1::7:8", "::ffff:1.2.3.4"],
    ["1:2:3", ":::", "1::2::3", "12345::", "::1%eth0"],
  ],
  ["uri", ["http://a/b?c#d", "urn:x:y", "a:"], ["/a", "http://a b", "//a", "http://[::g]/", "a:%zz"]],
  ["uri-reference", ["", "/a", "../b#c", "http://a"], ["\\a", "a b", "#a#b"]],
  ["iri", ["http://ƒøø.test/?∂=π"], ["/ƒ", "http://a\u{e000}/"]],
  ["iri-reference", ["ƒ#ø"], ["\\ƒ"]],
  ["uri-template", ["http://a/{b}{?c,d*}{e:3}"], ["{", "{}", "{a", "{b:0}"]],
  [
    "uuid",
    ["2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
    ["2eb8aa08aa9811eab4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}"],
  ],
  ["json-pointer", ["", "/a/~0~1/"], ["a", "/~", "/~2"]],
  ["relative-json-pointer", ["0", "1/a", "0#", "1+2/x"], ["-1", "01", "/a", "0##"]],
];

test("every format has its cases", () => {
  expect(cases.map(([name]) => name).sort()).toEqual([...formats.keys()].sort());
});

test.each(cases)("%s", (name, accepted, rejected) => {
  const format = formats.get(name);
  if (format === undefined) throw new Error(`no format ${name}`);
  const derivatives = new Derivatives(new Languages(formatLanguages));
  const language = formatLanguage(format);
  const fits = (text: string) =>
    derivatives.matches(language, text) && [...text].length <= (format.lengthMax ?? Number.POSITIVE_INFINITY);
  expect([...accepted, ...rejected].filter(fits)).toEqual([...accepted]);
});
