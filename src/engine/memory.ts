/** Type of one field of a native struct, and its offset in bytes. */
export type Field = readonly ["u32" | "i32" | "f32" | "f64", number];

export type StructTable<Name extends string> = {
  readonly bytes: number;
  readonly fields: Readonly<Record<Name, Field>>;
};

export function readField(view: DataView, at: number, [type, offset]: Field): number {
  switch (type) {
    case "u32":
      return view.getUint32(at + offset, true);
    case "i32":
      return view.getInt32(at + offset, true);
    case "f32":
      return view.getFloat32(at + offset, true);
    case "f64":
      return view.getFloat64(at + offset, true);
    default:
      return type satisfies never;
  }
}

export function writeField(view: DataView, at: number, [type, offset]: Field, value: number): void {
  switch (type) {
    case "u32":
      return view.setUint32(at + offset, value, true);
    case "i32":
      return view.setInt32(at + offset, value, true);
    case "f32":
      return view.setFloat32(at + offset, value, true);
    case "f64":
      return view.setFloat64(at + offset, value, true);
    default:
      return type satisfies never;
  }
}

/** A struct as an argument. */
export function writeStruct<Name extends string>(
  table: StructTable<Name>,
  values: Readonly<Record<Name, number>>,
): Uint8Array<ArrayBuffer> {
  const buffer = new ArrayBuffer(table.bytes);
  const view = new DataView(buffer);
  for (const name in table.fields) writeField(view, 0, table.fields[name], values[name]);
  return new Uint8Array(buffer);
}

/** A struct for a call to fill in, and how to read it afterwards. */
export function reportOf<Name extends string>(
  table: StructTable<Name>,
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly get: (name: Name) => number } {
  const buffer = new ArrayBuffer(table.bytes);
  const view = new DataView(buffer);
  return { bytes: new Uint8Array(buffer), get: (name) => readField(view, 0, table.fields[name]) };
}
