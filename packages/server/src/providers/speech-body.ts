/**
 * Reads the body of a speech answer as it arrives: headerless PCM, or a WAV file where the server ignored the asked
 * for format. Pure: bytes in, samples out.
 *
 * WAV: "RIFF" size "WAVE", then chunks of 4-byte id, 4-byte little-endian size and data padded to an even length.
 * `fmt ` holds format (1 = PCM, 0xFFFE = extensible), channels, rate, bytes/s, block size, bits. Streaming servers
 * write 0 or 0xFFFFFFFF as sizes, because they do not know them yet.
 */

export interface SpeechSamples {
  /** Mono s16. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

export interface SpeechBody {
  /** Samples that `bytes` completed, or null when it completed none. Throws when this is not audio we can read. */
  push(bytes: Uint8Array): SpeechSamples | null;
  /**
   * The bytes that were held back for the detection. Throws when the whole body had no audio. A last odd byte is
   * dropped.
   */
  end(): SpeechSamples | null;
}

/** OpenAI documents its `pcm` as 24 kHz; other servers send `rate=` in the Content-Type. */
const DEFAULT_PCM_RATE_HZ = 24_000;
/** Bytes needed to distinguish WAV from PCM. */
const SNIFF_BYTES = 12;
/** Limit of what is buffered before a WAV file's `data` chunk; tags before it have a few hundred bytes. */
const MAX_WAV_HEADER_BYTES = 65_536;
const MIN_RATE_HZ = 8_000;
const MAX_RATE_HZ = 192_000;

const COMPRESSED: Readonly<Record<string, string>> = {
  "audio/mpeg": "MP3",
  "audio/mp3": "MP3",
  "audio/ogg": "Ogg",
  "audio/opus": "Opus",
  "audio/webm": "WebM",
  "audio/aac": "AAC",
  "audio/mp4": "AAC",
  "audio/flac": "FLAC",
  "audio/x-flac": "FLAC",
};

interface Layout {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Remaining audio bytes; Infinity when the header does not contain the size. */
  readonly audioBytes: number;
}

export interface SpeechBodyOptions {
  /** The rate of headerless audio. It wins over a rate in the Content-Type. */
  readonly pcmRateHz?: number | undefined;
  /** Ends the sentence about audio that cannot be read. */
  readonly advice?: string;
  /** Headerless bytes are refused. */
  readonly mustBeWav?: boolean;
}

const ADVICE = 'Parley asked for response_format "pcm" and can read PCM and WAV only';

/** `contentType`: the header as received, or null. */
export function readSpeechBody(
  contentType: string | null,
  { pcmRateHz, advice = ADVICE, mustBeWav = false }: SpeechBodyOptions = {},
): SpeechBody {
  const { mediaType, rateHz } = parseContentType(contentType);
  let held: Uint8Array = new Uint8Array(0);
  let layout: Layout | null = null;
  let left = Infinity;
  let yielded = 0;

  const begin = (atEnd: boolean): boolean => {
    if (layout !== null) return true;
    if (held.length < SNIFF_BYTES && !atEnd) return false;
    const wav = ascii(held, 0) === "RIFF" && ascii(held, 8) === "WAVE";
    if (wav) {
      const parsed = parseWavHeader(held);
      if (parsed === null) {
        if (held.length > MAX_WAV_HEADER_BYTES) throw new Error("answered a WAV file without audio");
        return false;
      }
      ({ layout } = parsed);
      held = held.subarray(parsed.dataOffset);
    } else {
      refuseOther(held, mediaType, advice);
      if (mustBeWav && held.length > 0)
        throw new Error(`answered something that is not a WAV file; ${advice}`);
      layout = {
        sampleRateHz: pcmRateHz ?? rateHz ?? DEFAULT_PCM_RATE_HZ,
        channels: 1,
        audioBytes: Infinity,
      };
    }
    left = layout.audioBytes;
    return true;
  };

  const take = (atEnd: boolean): SpeechSamples | null => {
    if (!begin(atEnd) || layout === null) return null;
    const blockBytes = 2 * layout.channels;
    const usable = Math.min(held.length, left);
    const whole = usable - (usable % blockBytes);
    const samples = toMono(held.subarray(0, whole), layout.channels);
    left -= whole;
    held = left < blockBytes ? new Uint8Array(0) : held.slice(whole);
    yielded += samples.length;
    return samples.length === 0 ? null : { samples, sampleRateHz: layout.sampleRateHz };
  };

  return {
    push(bytes) {
      if (left === 0) return null;
      held = held.length === 0 ? bytes : concat(held, bytes);
      return take(false);
    },
    end() {
      const last = take(true);
      if (yielded === 0) throw new Error("answered no audio");
      return last;
    },
  };
}

function parseContentType(contentType: string | null): { mediaType: string; rateHz: number | null } {
  const [mediaType = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const rate = parameters.join(";").match(/\b(?:rate|samplerate|sample_rate)\s*=\s*"?(\d{4,6})\b/);
  const rateHz = rate === null ? null : Number(rate[1]);
  if (rateHz !== null) checkRate(rateHz);
  return { mediaType: mediaType.trim(), rateHz };
}

function checkRate(rateHz: number): void {
  if (rateHz < MIN_RATE_HZ || rateHz > MAX_RATE_HZ)
    throw new Error(`answered audio at ${String(rateHz)} Hz, which cannot be used`);
}

/** Throws unless headerless bytes of this type can be PCM. */
function refuseOther(bytes: Uint8Array, mediaType: string, advice: string): void {
  const start = ascii(bytes, 0);
  const declared = COMPRESSED[mediaType];
  const compressed =
    declared ??
    (start.startsWith("ID3") ? "MP3" : start === "OggS" ? "Ogg" : start === "fLaC" ? "FLAC" : null);
  // An MPEG frame begins with eleven set bits. PCM may as well, so this counts only where no header says that it is
  // PCM.
  const saysPcm = mediaType === "audio/pcm" || mediaType === "audio/l16" || mediaType === "audio/raw";
  const mpegFrame =
    !saysPcm && bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0 && (bytes[1] ?? 0) < 0xff;
  if (compressed !== null || mpegFrame) throw new Error(`answered ${compressed ?? "MP3"} audio; ${advice}`);
  const binary = saysPcm || mediaType === "" || mediaType === "application/octet-stream";
  if (!binary && !mediaType.startsWith("audio/")) throw new Error(`answered ${mediaType}, not audio`);
  const letter = start[0];
  if (!saysPcm && (letter === "{" || letter === "<") && isText(bytes))
    throw new Error("returned text, not audio");
}

/** Printable ASCII throughout, which PCM practically never is (12 bytes: 0.37^12). */
function isText(bytes: Uint8Array): boolean {
  return bytes
    .subarray(0, 64)
    .every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
}

/** Null while the header is not complete. Throws when it is not 16-bit PCM of one or two channels. */
function parseWavHeader(bytes: Uint8Array): { layout: Layout; dataOffset: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: { sampleRateHz: number; channels: number } | null = null;
  let offset = 12;
  while (offset + 8 <= bytes.length) {
    const id = ascii(bytes, offset);
    const size = view.getUint32(offset + 4, true);
    const start = offset + 8;
    if (id === "data") {
      if (format === null) throw new Error("answered a WAV file whose audio comes before its format");
      const audioBytes = size === 0 || size >= 0xffff_fff0 - 44 ? Infinity : size;
      return { layout: { ...format, audioBytes }, dataOffset: start };
    }
    if (id === "fmt ") {
      if (start + 16 > bytes.length) return null;
      format = parseFormat(view, start);
    }
    offset = start + size + (size % 2);
  }
  return null;
}

function parseFormat(view: DataView, start: number): { sampleRateHz: number; channels: number } {
  const format = view.getUint16(start, true);
  const channels = view.getUint16(start + 2, true);
  const sampleRateHz = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  if ((format !== 1 && format !== 0xfffe) || bits !== 16 || channels < 1 || channels > 2)
    throw new Error(
      `answered WAV of format ${String(format)}, ${String(bits)} bits, ${String(channels)} channels; ` +
        "only 16-bit PCM of one or two channels can be read",
    );
  checkRate(sampleRateHz);
  return { sampleRateHz, channels };
}

function toMono(bytes: Uint8Array, channels: number): Int16Array {
  // Copied for alignment. Little-endian, like every machine that Node supports here (x64, arm64).
  // Not by `slice`, which a Buffer has with another meaning.
  const samples = new Int16Array(new Uint8Array(bytes).buffer);
  if (channels === 1) return samples;
  const mono = new Int16Array(samples.length / 2);
  for (let i = 0; i < mono.length; i += 1) mono[i] = ((samples[2 * i] ?? 0) + (samples[2 * i + 1] ?? 0)) >> 1;
  return mono;
}

function ascii(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + 4));
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
