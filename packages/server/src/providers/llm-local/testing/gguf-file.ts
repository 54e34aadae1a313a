/** Writes a file in the GGUF format, version 3: metadata, then tensors of 32-bit floats. */

export type GgufValue =
  | { readonly type: "uint32" | "float32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "floats" | "ints"; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

const ALIGNMENT_BYTES = 32;
/** The numbers of the types in the file. */
const TYPES = { uint32: 4, ints: 5, float32: 6, floats: 6, bool: 7, string: 8, strings: 8 } as const;
const ARRAY_TYPE = 9;
const FLOAT_TENSOR = 0;

export function ggufFile(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Buffer {
  const entries = Object.entries(metadata);
  const parts = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) parts.push(text(key), valueOf(value));
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    parts.push(text(name), u32(shape.length), ...shape.map(u64), u32(FLOAT_TENSOR), u64(offset));
    offset += aligned(values.byteLength);
  }
  const head = Buffer.concat(parts);
  return Buffer.concat([
    padded(head),
    ...tensors.map(({ values }) => padded(Buffer.from(values.buffer, values.byteOffset, values.byteLength))),
  ]);
}

function valueOf(given: GgufValue): Buffer {
  const type = TYPES[given.type];
  switch (given.type) {
    case "strings":
      return arrayOf(type, given.value.map(text));
    case "floats":
      return arrayOf(type, given.value.map(f32));
    case "ints":
      return arrayOf(type, given.value.map(i32));
    case "float32":
      return single(type, f32(given.value));
    case "uint32":
      return single(type, u32(given.value));
    case "bool":
      return single(type, Buffer.from([given.value ? 1 : 0]));
    case "string":
    default:
      return single(type, text(given.value));
  }
}

function single(type: number, value: Buffer): Buffer {
  return Buffer.concat([u32(type), value]);
}

function arrayOf(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(ARRAY_TYPE), u32(type), u64(items.length), ...items]);
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc(aligned(content.length) - content.length)]);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

function text(value: string): Buffer {
  const content = Buffer.from(value);
  return Buffer.concat([u64(content.length), content]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
