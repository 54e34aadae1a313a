/**
 * SoundSwallower with the concierge's grammar and, for comparison, a loop of plain phones. Blocking: use it in a worker
 * thread.
 */

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import createModule, { type Decoder, type SoundSwallowerModule } from "soundswallower";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { buildGrammar } from "./grammar-source.ts";
import { acceptedText, type Segment } from "./rejection.ts";
import { messageOf } from "../../pacing/error-text.ts";

const FULL_SCALE = 32_768;

/** Unit of a segment's `p`: the decoder gives `exp(score / 10000)`, three digits long. */
const SCORE_UNITS = 10_000;
/** Least `p` that is used, because 0.000 has no logarithm; far below any limit of the rejection. */
const MIN_P = 0.000_5;

/**
 * `lw` and `wip` balance grammar against sound; `silprob` must be high or short words are heard in place of silence;
 * the beams are wider than the library's own at word ends (7e-29); `maxhmmpf` bounds the work on speech that fits no
 * phrase. Measured on digit sequences of human speech: 13 of 20 right with the library's balance and narrow beams, all
 * 20 with these.
 */
const GRAMMAR_SETTINGS = {
  beam: 1e-50,
  pbeam: 1e-50,
  wbeam: 1e-35,
  maxhmmpf: 2_500,
  lw: 4,
  wip: 0.2,
  silprob: 0.5,
  compallsen: true,
};

/** Phones without their context: fast, and a good comparison because they fit any speech about equally well. */
const PHONE_SETTINGS = {
  cionly: true,
  beam: 1e-20,
  pbeam: 1e-20,
  wbeam: 1e-12,
  lw: 1,
  silprob: 0.1,
  // Both decoders must normalise to the same best score of each frame, otherwise the difference means nothing.
  compallsen: true,
};

/** A prefix with which no word of the dictionary begins, so that the name of a phone is never a word ("phd" is one). */
const PHONE_PREFIX = "phone_";

const PHRASES_FILE = new URL("./concierge.gram", import.meta.url);
const OTHER_WORDS_FILE = new URL("./other-words.txt", import.meta.url);

export class PhraseDecoder {
  readonly #phrases: Decoder;
  readonly #phones: Decoder;

  private constructor(phrases: Decoder, phones: Decoder) {
    this.#phrases = phrases;
    this.#phones = phones;
  }

  /** Loads the model that comes with the package. Rejects when a file is missing or the grammar is wrong. */
  static async load(): Promise<PhraseDecoder> {
    const models = join(dirname(fileURLToPath(import.meta.resolve("soundswallower"))), "model");
    const complaints: string[] = [];
    const printErr = (line: string): void => {
      // The library logs every utterance without a phrase; only messages during loading matter.
      if (complaints.length < 5) complaints.push(line);
    };
    try {
      const swallower = await createModule({ print: printErr, printErr });
      return await PhraseDecoder.#build(swallower, join(models, "en-us"));
    } catch (error) {
      const detail = [messageOf(error), ...complaints].join("; ");
      throw new Error(`the offline recogniser's model or grammar cannot be loaded: ${detail}`, {
        cause: error,
      });
    }
  }

  static async #build(swallower: SoundSwallowerModule, model: string): Promise<PhraseDecoder> {
    const open = async (settings: Readonly<Record<string, number | boolean>>): Promise<Decoder> => {
      const decoder = new swallower.Decoder({
        hmm: model,
        samprate: STT_SAMPLE_RATE_HZ,
        loglevel: "ERROR",
        ...settings,
      });
      await decoder.initialize();
      return decoder;
    };
    const phrases = await open(GRAMMAR_SETTINGS);
    const [grammar, otherWords] = await Promise.all([
      readFile(PHRASES_FILE, "utf8"),
      readFile(OTHER_WORDS_FILE, "utf8"),
    ]);
    const { jsgf, addedWords } = buildGrammar({ grammar, otherWords }, (entry) => phrases.lookup_word(entry));
    phrases.add_words(...addedWords.map(([word, sound]): [string, string] => [word, sound]));
    phrases.set_grammar(jsgf);

    const phones = await open(PHONE_SETTINGS);
    const phoneSet = JSON.parse(await readFile(join(model, "phoneset.json"), "utf8")) as object;
    const names = Object.keys(phoneSet).filter((phone) => /^[A-Z]+$/.test(phone) && phone !== "SIL");
    phones.add_words(...names.map((phone): [string, string] => [PHONE_PREFIX + phone.toLowerCase(), phone]));
    const loop = names.map((phone) => PHONE_PREFIX + phone.toLowerCase()).join(" | ");
    phones.set_grammar(`#JSGF V1.0;\ngrammar phones;\npublic <phones> = (${loop})+;\n`);
    return new PhraseDecoder(phrases, phones);
  }

  /** The phrase that was said in 16 kHz mono audio, in lower case with numbers as words; empty when there was none. */
  decode(samples: Int16Array): string {
    const { phrase, phones } = this.explain(samples);
    return acceptedText(phrase, phones);
  }

  /** Both decodings of the audio; without a phrase the phones are left out. */
  explain(samples: Int16Array): { readonly phrase: readonly Segment[]; readonly phones: readonly Segment[] } {
    const audio = Float32Array.from(samples, (sample) => sample / FULL_SCALE);
    const phrase = segmentsOf(this.#phrases, audio);
    return { phrase, phones: phrase.length === 0 ? [] : segmentsOf(this.#phones, audio) };
  }
}

function segmentsOf(decoder: Decoder, audio: Float32Array): Segment[] {
  decoder.start();
  try {
    // The whole utterance in one call, so that its level is normalised over all of it.
    decoder.process_audio(audio, false, true);
  } finally {
    decoder.stop();
  }
  if (decoder.get_text() === "") return [];
  return (decoder.get_alignment().w ?? [])
    .filter(({ t }) => t !== "(NULL)")
    .map(({ t, b, d, p }) => ({
      text: t,
      beginS: b,
      durationS: d,
      score: SCORE_UNITS * Math.log(Math.max(p, MIN_P)),
    }));
}
