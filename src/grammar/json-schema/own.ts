import { anyNumber, settle } from "./numbers.ts";
import type { Schema } from "./schema.ts";
import { anyArray, anyObject, isNothing, lacks, type Shape } from "./shape.ts";
import { anySize, anyString, maxOf, meetRanges } from "./texts.ts";

/** One type's case under a schema's own keywords but for lists and languages. */
export function own(shape: Shape, schema: Schema): Shape | readonly Shape[] {
  switch (shape.type) {
    case "null":
    case "true":
    case "false":
      return shape;
    case "number": {
      const { whole, low, high, multipleOf } = schema;
      if (!whole && low === undefined && high === undefined && multipleOf === undefined) return shape;
      return settle({ ...anyNumber, whole, low, high, multipleOf }) ?? [];
    }
    case "string": {
      const length = meetRanges(anySize, schema.length);
      return schema.length === undefined ? shape : length === undefined ? [] : { ...anyString, length };
    }
    case "array": {
      const { items, array, contains, unique } = schema;
      if (items === undefined && array === undefined && contains === undefined && unique === undefined) return shape;
      const size = meetRanges(anySize, items);
      if (size === undefined || (contains !== undefined && maxOf(contains.count) < contains.count.min)) return [];
      return { ...anyArray, size, layers: listOf(array), contains: listOf(contains), unique };
    }
    case "object": {
      const { members, object, required, names } = schema;
      if (members === undefined && object === undefined && required.length === 0 && names === undefined) return shape;
      const absent = new Set<string>();
      for (const [key, part] of object?.declared ?? []) if (isNothing(part)) absent.add(key);
      const size = meetRanges(anySize, members);
      const mandatory = new Set(required);
      if (size === undefined || !absent.isDisjointFrom(mandatory)) return [];
      if (object !== undefined && lacks(object, mandatory)) return [];
      return {
        ...anyObject,
        size,
        layers: listOf(object),
        names: listOf(names),
        required: mandatory,
        absent,
      };
    }
    default:
      return shape satisfies never;
  }
}

function listOf<T>(item: T | undefined): readonly T[] {
  return item === undefined ? [] : [item];
}
