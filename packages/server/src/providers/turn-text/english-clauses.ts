/**
 * Signs in English words that the clause goes on: no verb yet, a verb without its object, an adjective without its noun,
 * a subject without its verb. Closed classes and frequent words only; what is unknown is left open.
 */

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ""));
}

/** strong: whatever mark the recogniser has put behind it. weak: unless there is a full stop. */
export type GoingOn = "strong" | "weak" | null;

const AUXILIARIES = words(
  `is are was were am be been do does did has have had will would can could should shall may might must isn't aren't
  wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't couldn't shouldn't`,
);

const VERBS = words(
  `accept add agree allow answer appear arrive ask arrange attend become begin began begun believe book borrow break
  broke bring brought build built buy bought call cancel care carry catch caught change charge check choose chose clean
  click close collect come came complain complete confirm connect contact continue cost cut deal decide deliver describe
  die discuss draw drew drink drank drive drove drop eat ate end enter exist expect expire explain fail fall fell feel
  felt fill find found finish fit fix fly flew follow forget forgot forgotten get got give gave given go goes went gone
  grow grew hang happen hate hear heard help hold held hope hurt include install join keep kept know knew known lead led
  learn leave left lend lent let lie like listen live look lose lost love make made matter mean meant meet met mention
  miss move need offer open order owe own park pass pay paid pick plan play prefer press print provide put reach read
  receive recommend refund register remember remove rent repair repeat replace reply report request require reserve
  reset respond return ring rang run ran rush say said says see saw seen sell sold seem send sent serve set share show
  shown shut sign sit sat sleep slept sound speak spoke spoken spend spent stand stood start stay stop suggest suit
  supply support suppose switch take took taken talk teach tell told thank think thought throw threw travel try tried
  turn understand understood update upgrade use visit wait wake woke walk want wear wore win won wish wonder work worry
  write wrote written it's that's i'm you're we're they're he's she's there's here's what's where's who's how's i've
  you've we've they've i'll you'll we'll they'll he'll she'll it'll i'd you'd we'd they'd let's`,
);

/** These are followed by what they are about. */
const NEEDS_OBJECT = words(
  `add added book booked bought bring brought buy choose chose contact describe discuss explain find found fix gave get
  give got include included install keep kept lose lost made make mention mentioned miss missed need needed offer offered
  order own pick prefer preferred provide put reach receive received recommend remove rent replace replaced report
  request require reserve reserved return said sell send sent set show showed sold spend spent suggest take taken tell
  told took update updated upgrade use used visit want wanted wear`,
);
/** Before such a verb they are its object, or make it a passive. */
const OBJECT_BEFORE = words(
  `what which that who where how is are was were am be been being get gets got it's that's i'm you're we're they're`,
);

const NOMINATIVES = words("i we they he she");
/** "What you", "because it": the subject of a clause that has just begun. */
const OPENS_CLAUSE = words(
  "that because if when what where how but which while although until since whether why hope",
);
const SUBJECTS = words("you it there this that these those somebody someone everybody nobody");

const DETERMINERS = words(
  "a an the my your our his her their this that these those some any every each another one two three four",
);
const ADJECTIVES = words(
  `red green blue black white yellow brown grey gray big small large little long short tall high low new old young good
  bad better best worse worst great nice fine free full empty quick fast slow quiet loud warm cold hot cool early late
  last next first second third final main other same different similar whole entire right wrong left easy hard difficult
  simple strong weak cheap expensive rich poor clean dirty wet dry broken sore sick healthy happy sad strange funny busy
  ready open closed double single local public private special personal general special certain possible current
  recent previous following upcoming usual normal serious important major minor electric digital online medical legal
  french german spanish italian english american british`,
);
const ADJECTIVE_ENDING =
  /^(?!handful|mouthful|table|vegetable|archive|olive|executive|detective|drive|relative).{2,}(?:ful|ous|able|ible|less|ive)$/;

/** They stand before the word that they belong to. */
const BEFORE_A_WORD = words(
  "never just even only usually currently probably still also almost nearly very too quite rather extremely really",
);
const OPEN_END =
  /(?:^| )(?:as (?:soon|long|far|much|many)|how (?:much|many|long|far|often)|(?:quarter|half|minutes?) (?:past|to)|kind of|sort of|something like|such as|more than|less than)$/;

/** Orders and greetings are whole without a verb. */
const WHOLE_WITHOUT_VERB = words(
  "please thanks hello hi goodbye bye morning afternoon evening sorry pardon idea",
);
/** A longer text without a known verb has one that is unknown. */
const VERBLESS_WORDS = 5;

/** @param hasNumber numbers are whole without a verb: "ten of clubs" */
export function englishGoesOn(said: readonly string[], hasNumber: boolean): GoingOn {
  const last = said.at(-1);
  if (last === undefined || said.length < 2) return said.length === 1 ? loneWord(last ?? "") : null;
  const before = said.at(-2) ?? "";
  if (OPEN_END.test(said.join(" "))) return said.length > 2 ? "strong" : "weak";
  if (isSubjectAlone(last, before)) return "strong";
  if (DETERMINERS.has(before) && (ADJECTIVES.has(last) || ADJECTIVE_ENDING.test(last))) return "strong";
  if (BEFORE_A_WORD.has(last)) return "weak";
  if (lacksObject(said, last)) return "weak";
  return !hasNumber && isVerbless(said) ? "weak" : null;
}

function loneWord(word: string): GoingOn {
  return NOMINATIVES.has(word) || DETERMINERS.has(word) ? "strong" : null;
}

function isSubjectAlone(last: string, before: string): boolean {
  if (NOMINATIVES.has(last)) return !AUXILIARIES.has(before) && before !== "than" && before !== "and";
  return SUBJECTS.has(last) && OPENS_CLAUSE.has(before);
}

function lacksObject(said: readonly string[], last: string): boolean {
  if (!NEEDS_OBJECT.has(last)) return false;
  return !said.slice(0, -1).some((word) => OBJECT_BEFORE.has(word));
}

function isVerbless(said: readonly string[]): boolean {
  if (said.length > VERBLESS_WORDS || said.some((word) => WHOLE_WITHOUT_VERB.has(word))) return false;
  return !said.some((word) => AUXILIARIES.has(word) || isEnglishVerb(word));
}

export function isEnglishVerb(word: string): boolean {
  if (AUXILIARIES.has(word) || VERBS.has(word)) return true;
  if (word.endsWith("s") && VERBS.has(word.slice(0, -1))) return true;
  return word.length > 4 && /(?:ed|ing)$/.test(word);
}

const ENDS_ADDRESS =
  /(?:\.|\bdot |\bpunkt |\bpoint |\bpunto )(?:com|net|org|info|edu|gov|io|co|eu|de|at|ch|uk|us|fr|es|it|nl|pl|ca|au|app|dev)$/;
const NO_ADDRESS = /\b(?:don't|no|not|none|have|same|nein|non|nicht|kein|pas|tengo)\b/;

/** An e-mail address that was asked for: null when it is none, otherwise whether it has its end. In any language. */
export function emailAddress(text: string, agentText: string): "whole" | "part" | null {
  if (!/\be-?mail|\bcorreo|\bcourriel/.test(agentText) || NO_ADDRESS.test(text)) return null;
  return ENDS_ADDRESS.test(text.replace(/[.,!?\s]+$/, "")) ? "whole" : "part";
}
