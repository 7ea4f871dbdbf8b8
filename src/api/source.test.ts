import { expect, test } from "bun:test";
import fc from "fast-check";
import { sourceAt, sourceItems, sourceMembers } from "./source.ts";

test.each([
  ['{"a": {"2":1, "1":1.50} }', ["a"], '{"2":1, "1":1.50}'],
  ['{"a" : "}\\"" ,"b":12e3}', ["b"], "12e3"],
  ['{"b":12e3\n}', ["b"], "12e3"],
  ['{"a":1,"a" : 2}', ["a"], "2"],
  ['{"\\u0061":null}', ["a"], "null"],
  ['{"a":{"b":{"c":true}}}', ["a", "b", "c"], "true"],
  [" 7 ", [], "7"],
])("%s at %j is %s", (text, path, source) => {
  expect(sourceAt(text, path)).toBe(source);
});

test.each([
  ["[]", []],
  [" [ ] ", []],
  [' [1 , [2,"]\\"}"],{"a":[]}\n]', ["1", '[2,"]\\"}"]', '{"a":[]}']],
])("the items of %s", (text, items) => {
  expect(sourceItems(text)).toEqual(items);
});

test("a value that is not there is a bug of the caller", () => {
  expect(() => sourceAt("{}", ["a"])).toThrow("there is no 'a'");
  expect(() => sourceAt("3", ["a"])).toThrow("there is no 'a'");
});

test("the sources of an object's members and an array's items parse to its values", () => {
  const indent = fc.constantFrom(undefined, 1, "\t");
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), indent, (object, space) => {
      const text = JSON.stringify(object, null, space);
      const plain: Record<string, unknown> = JSON.parse(text);
      for (const [key, value] of Object.entries(plain)) {
        expect<unknown>(JSON.parse(sourceAt(text, [key]))).toEqual(value);
      }
      const members = [...sourceMembers(text)].map(([key, source]): [string, unknown] => [key, JSON.parse(source)]);
      expect(Object.fromEntries(members)).toEqual(plain);
      const values = Object.values(plain);
      const items = sourceItems(JSON.stringify(values, null, space));
      expect<unknown>(items.map((item) => JSON.parse(item))).toEqual(values);
    }),
  );
});
