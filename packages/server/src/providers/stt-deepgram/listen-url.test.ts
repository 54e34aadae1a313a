import { describe, expect, it } from "vitest";
import { fluxUrl, hintsThatFit, KEYTERM_CHARS_MAX, KEYTERMS_MAX, listenUrl } from "./listen-url.ts";

const BASE = {
  baseUrl: "https://api.deepgram.com",
  model: "nova-3",
  language: null,
  hints: [],
  endOfTurnMs: 0,
};

function queryOf(changes: object): URLSearchParams {
  return new URL(listenUrl({ ...BASE, ...changes })).searchParams;
}

describe("the address of a live transcription", () => {
  it("is a websocket at the base, plain where the base is", () => {
    expect(listenUrl(BASE)).toMatch(/^wss:\/\/api\.deepgram\.com\/v1\/listen\?/);
    expect(listenUrl({ ...BASE, baseUrl: "http://127.0.0.1:9/dg/" })).toMatch(
      /^ws:\/\/127\.0\.0\.1:9\/dg\/v1\/listen\?/,
    );
  });

  it("asks for the end of the speech where that is wanted", () => {
    const asked = (endOfTurnMs: number) => {
      const query = queryOf({ endOfTurnMs });
      return [query.get("endpointing"), query.get("utterance_end_ms")];
    };
    expect(asked(0)).toEqual(["false", null]);
    expect(asked(1_500)).toEqual(["1500", "1500"]);
  });

  it("of a Flux model is another one, with whole terms and a hint", () => {
    const flux = { ...BASE, model: "flux-general-multi", hints: ["Fawlty Towers"], language: "de" };
    expect(fluxUrl({ ...flux, endOfTurnMs: 1_500 })).toBe(
      "wss://api.deepgram.com/v2/listen?model=flux-general-multi&encoding=linear16&sample_rate=16000" +
        "&eager_eot_threshold=0.5&eot_threshold=0.7&eot_timeout_ms=1500&keyterm=Fawlty+Towers&language_hint=de",
    );
    expect(new URL(fluxUrl(flux)).searchParams.get("eot_timeout_ms")).toBe("5000");
  });

  it("has at most as many key terms as Deepgram takes", () => {
    const many = Array.from({ length: 150 }, (_, index) => `t${String(index)}`);
    expect(queryOf({ hints: many }).getAll("keyterm")).toHaveLength(KEYTERMS_MAX);
    const long = Array.from({ length: 50 }, () => "x".repeat(100));
    expect(queryOf({ hints: long }).getAll("keyterm")).toHaveLength(KEYTERM_CHARS_MAX / 100);
    expect(hintsThatFit("nova-3", long)).toBe(KEYTERM_CHARS_MAX / 100);
  });

  it("escapes what a hint holds", () => {
    expect(queryOf({ hints: ["R&D=100%", "a b"] }).getAll("keyterm")).toEqual(["R&D=100%", "a b"]);
  });

  it("gives earlier models single words, each once", () => {
    const hints = ["Fawlty Towers", "Basil Fawlty", "a:5"];
    expect(queryOf({ model: "nova-2", hints }).getAll("keywords")).toEqual([
      "Fawlty",
      "Towers",
      "Basil",
      "a",
      "5",
    ]);
    expect(hintsThatFit("nova-2", hints)).toBe(3);
  });
});
