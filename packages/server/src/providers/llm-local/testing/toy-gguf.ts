/**
 * A toy language model: one layer of the architecture of Llama, with weights that are computed and say nothing about a
 * real model. Its replies are fixed: each token has one successor, and the first token of a reply is chosen by the last
 * word of the message before it, which the only attention head finds by its distance.
 */

import { ggufFile, type GgufTensor } from "./gguf-file.ts";

export interface ToyOptions {
  /** Positions that the model has. */
  readonly contextTokens?: number;
}

/** Size of a vector: a constant, the codes of the current token, then those of the token that attention finds. */
const WIDTH = 128;
const CODES = 63;
const CONSTANT = 0;
const CURRENT = 1;
const FOUND = CURRENT + CODES;
/** Of tokens without a code, so that all vectors have the same length: attention compares them. */
const PLAIN = WIDTH - 1;
/** From the end of a prompt to the last token of the message: `word <|im_end|> \n <|im_start|> assistant \n`. */
const DISTANCE = 5;
/** All frequencies are high, so that the head sees single positions. */
const ROPE_BASE = 4;

/** What the toy replies, by the last token of the message. `<tool_call>` begins a call of a tool. */
export const TOY_REPLIES: Readonly<Record<string, readonly string[]>> = {
  hello: ["Good", " day", " to", " you", "."],
  three: ["One", " two", " four", "."],
  weather: ["It", " is", " sunny", "."],
  book: ['<tool_call>\n{"name": "'],
  // Without an end.
  forever: ["La", " la", " la"],
  "</tool_response>": ["Done", " and", " booked", "."],
};
/** To every other message. */
export const TOY_DEFAULT_REPLY = ["Hm", ",", " yes", "."];

const CHAINS = [...Object.values(TOY_REPLIES), TOY_DEFAULT_REPLY];

const SPECIAL = ["<unk>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"];
const END = "<|im_end|>";
/** How the tokenizer writes a space. */
const SPACE = "\u2581";
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

const TEMPLATE = `{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] }}{%- endif %}
    {{- "\\n\\n# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "user" or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>assistant' }}
        {%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}{{- tool_call.arguments | tojson }}{{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.index0 == 0 or messages[loop.index0 - 1].role != "tool" %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != "tool" %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
`;

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly idOf: (token: string) => number;
}

function byteToken(value: number): string {
  return `<0x${value.toString(16).toUpperCase().padStart(2, "0")}>`;
}

function vocabularyOf(words: readonly string[]): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_value, byte) => byteToken(byte));
  const tokens = [...SPECIAL, SPACE, ...bytes, ...words];
  const starts = [0, 1, SPECIAL.length, SPECIAL.length + 1, SPECIAL.length + 257];
  const typeOf = (index: number): number =>
    [UNKNOWN, CONTROL, NORMAL, BYTE, USER_DEFINED][starts.findLastIndex((start) => index >= start)] ??
    UNKNOWN;
  const ids = new Map(tokens.map((token, id) => [token, id]));
  return {
    tokens,
    types: tokens.map((_token, index) => typeOf(index)),
    idOf: (token) => ids.get(token === "\n" ? byteToken(10) : token) ?? 0,
  };
}

/** Under 1 MB. */
export function toyGguf({ contextTokens = 4_096 }: ToyOptions = {}): Buffer {
  const words = [...new Set(["assistant", ...Object.keys(TOY_REPLIES), ...CHAINS.flat()])];
  const vocabulary = vocabularyOf(words);
  const { tokens, types, idOf } = vocabulary;
  const scores = types.map((type) => (type === NORMAL ? 0 : -1));
  const int = (value: number) => ({ type: "uint32", value }) as const;
  const metadata = {
    "general.architecture": { type: "string", value: "llama" },
    "general.name": { type: "string", value: "Parley toy" },
    "llama.context_length": int(contextTokens),
    "llama.embedding_length": int(WIDTH),
    "llama.block_count": int(1),
    "llama.feed_forward_length": int(WIDTH),
    "llama.attention.head_count": int(1),
    "llama.attention.head_count_kv": int(1),
    "llama.attention.layer_norm_rms_epsilon": { type: "float32", value: 1e-5 },
    "llama.rope.dimension_count": int(WIDTH),
    "llama.rope.freq_base": { type: "float32", value: ROPE_BASE },
    "llama.vocab_size": int(tokens.length),
    "tokenizer.ggml.model": { type: "string", value: "llama" },
    "tokenizer.ggml.tokens": { type: "strings", value: tokens },
    "tokenizer.ggml.scores": { type: "floats", value: scores },
    "tokenizer.ggml.token_type": { type: "ints", value: types },
    "tokenizer.ggml.bos_token_id": int(idOf("<|endoftext|>")),
    "tokenizer.ggml.eos_token_id": int(idOf(END)),
    "tokenizer.ggml.unknown_token_id": int(0),
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
    "tokenizer.ggml.add_space_prefix": { type: "bool", value: false },
    "tokenizer.chat_template": { type: "string", value: TEMPLATE },
  } as const;
  return ggufFile(metadata, tensorsOf(vocabulary));
}

class Matrix {
  readonly values: Float32Array;
  readonly #width: number;

  constructor(width: number, height: number) {
    this.#width = width;
    this.values = new Float32Array(width * height);
  }

  add(row: number, column: number, value: number): void {
    const at = row * this.#width + column;
    this.values[at] = (this.values[at] ?? 0) + value;
  }
}

/** Each token that decides what follows has a code; the others look alike. */
function codesOf({ idOf }: Vocabulary): ReadonlyMap<number, number> {
  const deciding = new Set(["\n", ...Object.keys(TOY_REPLIES), ...CHAINS.flat()]);
  if (deciding.size > CODES) throw new Error("the toy has more words than codes");
  return new Map([...deciding].map((token, code) => [idOf(token), code]));
}

/** What follows a token outweighs what attention finds, and that outweighs what is said otherwise. */
const STRONG = 10;
const WEAK = 0.3;

function outputOf(vocabulary: Vocabulary, codes: ReadonlyMap<number, number>): Matrix {
  const { idOf, tokens } = vocabulary;
  const output = new Matrix(WIDTH, tokens.length);
  const codeOf = (token: string): number => codes.get(idOf(token)) ?? 0;
  const follows = (before: string, token: string, weight = STRONG): void =>
    output.add(idOf(token), CURRENT + codeOf(before), weight);
  for (const chain of CHAINS)
    for (const [index, token] of chain.slice(1).entries()) follows(chain[index] ?? "", token);
  for (const [word, chain] of Object.entries(TOY_REPLIES))
    output.add(idOf(chain[0] ?? ""), FOUND + codeOf(word), 1);
  follows("\n", TOY_DEFAULT_REPLY[0] ?? "", WEAK);
  follows(".", END);
  // Where a grammar allows several characters, these end what was begun.
  output.add(idOf(byteToken(0x22)), CONSTANT, 0.05);
  output.add(idOf(byteToken(0x7d)), CONSTANT, 0.04);
  return output;
}

function tensorsOf(vocabulary: Vocabulary): GgufTensor[] {
  const { tokens } = vocabulary;
  const codes = codesOf(vocabulary);
  const embeddings = new Matrix(WIDTH, tokens.length);
  for (const id of tokens.keys()) {
    embeddings.add(id, CONSTANT, 1);
    const code = codes.get(id);
    embeddings.add(id, code === undefined ? PLAIN : CURRENT + code, 1);
  }
  const query = new Matrix(WIDTH, WIDTH);
  const key = new Matrix(WIDTH, WIDTH);
  const value = new Matrix(WIDTH, WIDTH);
  const attended = new Matrix(WIDTH, WIDTH);
  for (let pair = 0; pair < WIDTH / 2; pair += 1) {
    const angle = DISTANCE * ROPE_BASE ** ((-2 * pair) / WIDTH);
    query.add(2 * pair, CONSTANT, Math.cos(angle));
    query.add(2 * pair + 1, CONSTANT, -Math.sin(angle));
    key.add(2 * pair, CONSTANT, 1);
  }
  for (let code = 0; code < CODES; code += 1) {
    value.add(code, CURRENT + code, 1);
    attended.add(FOUND + code, code, 0.1);
  }
  const ones = new Float32Array(WIDTH).fill(1);
  const square = [WIDTH, WIDTH];
  const none = new Float32Array(WIDTH * WIDTH);
  return [
    { name: "token_embd.weight", shape: [WIDTH, tokens.length], values: embeddings.values },
    { name: "blk.0.attn_norm.weight", shape: [WIDTH], values: ones },
    { name: "blk.0.attn_q.weight", shape: square, values: query.values },
    { name: "blk.0.attn_k.weight", shape: square, values: key.values },
    { name: "blk.0.attn_v.weight", shape: square, values: value.values },
    { name: "blk.0.attn_output.weight", shape: square, values: attended.values },
    { name: "blk.0.ffn_norm.weight", shape: [WIDTH], values: ones },
    { name: "blk.0.ffn_gate.weight", shape: square, values: none },
    { name: "blk.0.ffn_up.weight", shape: square, values: none },
    { name: "blk.0.ffn_down.weight", shape: square, values: none },
    { name: "output_norm.weight", shape: [WIDTH], values: ones },
    { name: "output.weight", shape: [WIDTH, tokens.length], values: outputOf(vocabulary, codes).values },
  ];
}
