import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildGrammar, wordsOf } from "./grammar-source.ts";
import { OFFLINE_PHRASES } from "./stt-offline.ts";

const dictionary: Readonly<Record<string, string>> = {
  ten: "T EH N",
  of: "AH V",
  clubs: "K L AH B Z",
  two: "T UW",
  too: "T UW",
  read: "R EH D",
  "read(2)": "R IY D",
  red: "R EH D",
  the: "DH AH",
};
const lookUp = (entry: string): string | null => dictionary[entry] ?? null;

const grammar = `#JSGF V1.0;
grammar small; // a comment with words
public <heard> = /20/ <card> | /0.5/ <other>;
<card> = (ten | two) of clubs;
`;

it("finds the words of a grammar and nothing of its syntax", () => {
  expect(wordsOf(grammar)).toEqual(["ten", "two", "of", "clubs"]);
});

describe("a grammar", () => {
  it("gets its other words, without those that sound like its own", () => {
    const otherWords = "# comment words\nthe too\nread the unheard\n";
    const built = buildGrammar({ grammar, otherWords }, lookUp);
    expect(built.addedWords).toEqual([
      ["other_the", "DH AH"],
      ["other_read", "R EH D"],
      ["other_read(2)", "R IY D"],
    ]);
    expect(built.jsgf).toBe(`${grammar}\n<other> = other_the | other_read;\n`);
  });

  it("keeps the pronunciations that its own words lack", () => {
    const own = grammar.replace("two", "red");
    const { addedWords } = buildGrammar({ grammar: own, otherWords: "read" }, lookUp);
    expect(addedWords).toEqual([["other_read", "R IY D"]]);
  });

  it("is refused with the words that the dictionary lacks", () => {
    const wrong = grammar.replace("ten |", "tenn | wto |");
    expect(() => buildGrammar({ grammar: wrong, otherWords: "the" }, lookUp)).toThrow('"tenn", "wto"');
  });

  it("is refused when no other word is left", () => {
    expect(() => buildGrammar({ grammar, otherWords: "too" }, lookUp)).toThrow("<other>");
  });
});

it("of the concierge leaves no rule undefined, unused or defined twice", () => {
  const source = readFileSync(new URL("./concierge.gram", import.meta.url), "utf8").replaceAll(
    /\/\/.*$/gm,
    "",
  );
  const defined = [...source.matchAll(/<(\w+)>\s*=/g)].map(([, name]) => name);
  const used = new Set([...source.matchAll(/<(\w+)>(?!\s*=)/g)].map(([, name]) => name));
  expect(new Set(defined).size).toBe(defined.length);
  expect(new Set([...defined, "other"])).toEqual(new Set([...used, "heard"]));
});

/** The grammar as a regular expression over words that each end in a space. */
function expressionOf(source: string): RegExp {
  const rules = new Map(
    [...source.matchAll(/^(?:public )?<(\w+)> =([^;]*);/gm)].map(([, name = "", body = ""]) => [name, body]),
  );
  const expand = (body: string): string =>
    (body.replaceAll(/\/[\d.]+\//g, "").match(/<\w+>|[\w']+|[()[\]|+]/g) ?? [])
      .map((part) => {
        if (part.startsWith("<")) return `(?:${expand(rules.get(part.slice(1, -1)) ?? "")})`;
        if (part === "(" || part === "[") return "(?:";
        if (part === "]") return ")?";
        return /[)|+]/.test(part) ? part : `${part} `;
      })
      .join("");
  return new RegExp(`^(?:${expand("<utterance>")})$`);
}

it("of the concierge understands the phrases that are offered to try", () => {
  const source = readFileSync(new URL("./concierge.gram", import.meta.url), "utf8").replaceAll(
    /\/\/.*$/gm,
    "",
  );
  const understood = expressionOf(source);
  expect(OFFLINE_PHRASES.filter((phrase) => !understood.test(`${phrase.toLowerCase()} `))).toEqual([]);
  expect(understood.test("do you have a swimming pool ")).toBe(false);
});
