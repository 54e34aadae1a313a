/** What the scripted model reads from a system prompt and an instruction: names and quoted sentences. Pure. */

/** Limit of characters of a prompt that are searched; a name is usually stated early. */
const MAX_PROMPT_CHARS = 4_000;

const NAME = String.raw`(\p{Lu}[\p{L}'-]{1,29}(?: \p{Lu}[\p{L}'-]{1,29})?)`;
const AGENT_NAME = new RegExp(
  String.raw`(?:[Yy]our name is|[Yy]ou are called|[Yy]ou are named|[Yy]ou go by|[Yy]ou are(?: (?:an?|the) [^.]{1,60}? (?:named|called))?|[Yy]ou're) ${NAME}(?![\p{L}])`,
  "gu",
);
const GUEST_NAME = new RegExp(
  String.raw`(?:guest|caller|user|customer|client)(?:'s name)? (?:is called|is named|is) ${NAME}(?![\p{L}])`,
  "u",
);
/** Capitalised words that are not names. */
const NOT_NAMES: ReadonlySet<string> = new Set([
  "An",
  "The",
  "Assistant",
  "AI",
  "Not",
  "Always",
  "Your",
  "English",
]);

/** The agent's name where the prompt states one simply ("You are Ada, …", "Your name is Ada."), or null. */
export function agentName(systemPrompt: string): string | null {
  const prompt = systemPrompt.slice(0, MAX_PROMPT_CHARS);
  const guest = guestName(systemPrompt);
  for (const [, name = ""] of prompt.matchAll(AGENT_NAME)) if (isName(name) && name !== guest) return name;
  return null;
}

/** The caller's name where the prompt states it simply ("The guest is called Maria."), or null. */
export function guestName(systemPrompt: string): string | null {
  const name = GUEST_NAME.exec(systemPrompt.slice(0, MAX_PROMPT_CHARS))?.[1] ?? "";
  return isName(name) ? name : null;
}

function isName(name: string): boolean {
  return name !== "" && !name.endsWith("'s") && !NOT_NAMES.has(name.split(" ", 1)[0] ?? "");
}

/** Longest sentence that is taken from an instruction. */
const MAX_QUOTE_CHARS = 300;

/** The words that an instruction wants said ("Greet with: “Welcome to the Adler.”"), or null. */
export function quotedWords(instruction: string): string | null {
  const quote = /["“]([^"“”]{2,})["”]/u.exec(instruction.slice(0, MAX_PROMPT_CHARS))?.[1]?.trim() ?? "";
  return quote === "" || quote.length > MAX_QUOTE_CHARS || !/\p{L}/u.test(quote) ? null : quote;
}

/** The English name of a language that is not English, or null. */
export function foreignLanguage(language: string | null): string | null {
  if (language === null || !/^[a-z]{2,3}(?:-[a-z\d]{1,8})*$/i.test(language)) return null;
  const primary = language.split("-", 1)[0]?.toLowerCase() ?? "";
  if (primary === "en") return null;
  return new Intl.DisplayNames("en", { type: "language" }).of(primary) ?? primary;
}
