/**
 * A network with the interface of Smart Turn v3 and nothing learnt: the sigmoid of the mean of its input, written byte
 * by byte in ONNX's protobuf form, so that the way to a real one is tested without having one.
 */

/** Field numbers are those of `onnx.proto`. */
type Field = readonly [number, number | string | Field[]];

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) + 128);
    if (rest < 128) return bytes;
  }
}

function encode(fields: readonly Field[]): number[] {
  return fields.flatMap(([number, value]) => {
    if (typeof value === "number") return [...varint(number * 8), ...varint(value)];
    const body = typeof value === "string" ? [...Buffer.from(value)] : encode(value);
    return [...varint(number * 8 + 2), ...varint(body.length), ...body];
  });
}

const FLOAT = 1;
const INTS = 7;

function tensor(name: string, shape: readonly number[]): Field[] {
  const dimensions = shape.map((size): Field => [1, [[1, size]]]);
  const type: Field[] = [
    [
      1,
      [
        [1, FLOAT],
        [2, dimensions],
      ],
    ],
  ];
  return [[1, name], [2, type]]; // prettier-ignore
}

export interface StandInOptions {
  /** Default: `input_features`. */
  readonly input?: string;
  /** Default: 80 bands in 800 frames. */
  readonly shape?: readonly [number, number, number];
  /** Leaves out the sigmoid, so that the answer is no probability. */
  readonly isRaw?: boolean;
}

export function standInModel(options: StandInOptions = {}): Uint8Array {
  const { input = "input_features", shape = [1, 80, 800], isRaw = false } = options;
  const axes: Field[] = [[1, "axes"], [8, 1], [8, 2], [20, INTS]]; // prettier-ignore
  const keepdims: Field[] = [[1, "keepdims"], [3, 0], [20, 2]]; // prettier-ignore
  const mean: Field[] = [[1, input], [2, "mean"], [4, "ReduceMean"], [5, axes], [5, keepdims]]; // prettier-ignore
  const last = isRaw ? "Identity" : "Sigmoid";
  const sigmoid: Field[] = [[1, "mean"], [2, "logits"], [4, last]]; // prettier-ignore
  const graph: Field[] = [
    [1, mean],
    [1, sigmoid],
    [2, "stand-in"],
    [11, tensor(input, shape)],
    [12, tensor("logits", [shape[0]])],
  ];
  const IR_VERSION = 8;
  const OPSET = 13;
  return Uint8Array.from(encode([[1, IR_VERSION], [7, graph], [8, [[2, OPSET]]]])); // prettier-ignore
}
