/** Which language model of which vendor a name of `MODEL_ALIASES` means. */

/** Every vendor whose models aliases can name. `compatible`: any server with OpenAI's protocol. */
export type LlmVendor =
  | "openai"
  | "anthropic"
  | "google"
  | "groq"
  | "mistral"
  | "bedrock"
  | "xai"
  | "deepseek"
  | "openrouter"
  | "compatible";

/** Keys of Amazon Web Services, which sign requests. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

export interface VendorTarget {
  /** As requests and aliases write it, such as `groq:llama-3.3-70b-versatile`. */
  readonly name: string;
  readonly vendor: LlmVendor;
  /** As the vendor names it. */
  readonly model: string;
  /** Without a slash at the end. Null: the vendor's own address. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** Of Amazon Bedrock; null for all others, and where it has a key of its own. */
  readonly aws: AwsKeys | null;
  /** Of Amazon Bedrock; null for all others. */
  readonly region: string | null;
  /** The model is given the caller's voice in place of the transcript. */
  readonly takesAudio: boolean;
}
