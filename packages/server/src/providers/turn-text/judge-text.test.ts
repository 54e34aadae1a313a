import { describe, expect, test } from "vitest";
import { judgeText, OPINION } from "./judge-text.ts";
import { openTextTurnDetector } from "./turn-text.ts";

type Verdict = "clear" | "rather" | "finished" | "answered";

function verdict(finished: number | null): Verdict | "none" {
  if (finished === null) return "none";
  if (finished < 0.25) return "clear";
  if (finished < 0.5) return "rather";
  return finished >= 0.95 ? "answered" : "finished";
}

type Row = readonly [expected: Verdict | "unfinished", text: string, agentText?: string];

const ASKED = "What can I do for you?";

const ENGLISH: readonly Row[] = [
  ["clear", "the contract that you"],
  ["unfinished", "because they"],
  ["finished", "where are they"],
  ["clear", "we want a quiet"],
  ["clear", "a room with an expensive."],
  ["clear", "let me know as soon"],
  ["clear", "it leaves at a quarter past"],
  ["rather", "my daughter"],
  ["rather", "the internet connection"],
  ["rather", "I need to book"],
  ["rather", "I have never"],
  ["finished", "that is the room I booked"],
  ["finished", "my seats are reserved"],
  ["finished", "My daughter."],
  ["finished", "two coffees please"],
  ["finished", "my daughter", "Who will travel with you?"],
  ["clear", "anna underscore k at mail", "What is your email address?"],
  ["clear", "anna at example dot", "What is your email address?"],
  ["finished", "anna at example dot com", "What is your email address?"],
  ["finished", "anna@example.org.", "What is your e-mail?"],
  ["finished", "I don't have one", "What is your email address?"],
  ["unfinished", "ask not"],
  ["rather", "and so my fellow americans"],
  ["finished", "what your country can do for you"],
  ["finished", "ask what you can do for your country"],
  ["finished", "go forward ten meters"],
  ["finished", "he was not an ill disposed young man"],
  ["unfinished", "unless to be rather cold hearted and rather selfish is to be ill disposed"],
  ["finished", "he might have been made still more respectable than he was"],
  [
    "finished",
    "unless to be rather cold hearted is to be ill disposed he might even have been made amiable himself",
  ],
  ["finished", "he might even have been made amiable himself"],
  ["finished", "ten of clubs"],
  ["finished", "eight of spades four of clubs seven of hearts"],
  ["clear", "I would like"],
  ["clear", "I'd like a table for two and"],
  ["clear", "I want to book the"],
  ["clear", "I need to talk to my"],
  ["clear", "we're flying from"],
  ["clear", "it's because"],
  ["clear", "do you have a room with a view of"],
  ["unfinished", "I'm looking for"],
  ["unfinished", "the meeting is at"],
  ["unfinished", "could you please tell me when"],
  ["clear", "my name is"],
  ["clear", "my name", "What is your name?"],
  ["clear", "well I think"],
  ["clear", "could you"],
  ["clear", "let me see"],
  ["clear", "let me think", ASKED],
  ["clear", "I'd like to"],
  ["unfinished", "there are some people who"],
  ["clear", "I want a room um"],
  ["clear", "um"],
  ["clear", "uh", ASKED],
  ["clear", "I was there and, uh,"],
  ["clear", "First of all,"],
  ["clear", "I went to the store -"],
  ["rather", "So I was thinking..."],
  ["clear", "I want the."],
  ["clear", "It was because."],
  ["finished", "That is what I am waiting for."],
  ["finished", "What are you looking for?"],
  ["finished", "I think so"],
  ["finished", "I don't think so", "Is that right?"],
  ["finished", "I'd rather not"],
  ["answered", "of course not", "Do you smoke?"],
  ["finished", "please turn it on"],
  ["finished", "hold on"],
  ["finished", "how are you"],
  ["finished", "book a table for two tomorrow at seven"],
  ["finished", "I want to cancel my reservation."],
  ["finished", "What time do you open?"],
  ["answered", "yes", "Shall I book it?"],
  ["answered", "no", "Anything else?"],
  ["answered", "yes please", "Shall I book it?"],
  ["answered", "no thank you", "Anything else?"],
  ["answered", "of course", "Do you want it?"],
  ["answered", "Boston", "Which city are you in?"],
  ["answered", "New York", "Where do you want to go?"],
  ["answered", "four", "For how many people?"],
  ["answered", "twenty five", "How old are you?"],
  ["answered", "tomorrow", "When would you like to come?"],
  ["answered", "in the evening", "When would you like to come?"],
  ["finished", "yes"],
  ["finished", "okay"],
  ["finished", "because I am tired", "Why do you want to stop?"],
  ["clear", "if you have time tomorrow"],
  ["clear", "unless it is too late"],
  ["clear", "if the", ""],
  ["rather", "if the shop is open tomorrow"],
  ["rather", "if it rains tomorrow we stay at home"],
  ["rather", "if you are ready call me"],
  ["rather", "if you could send me the invoice"],
  ["rather", "if you don't mind"],
  ["finished", "if you want"],
  ["finished", "if you have a free room I would take it for two nights and pay in cash on arrival"],
  ["clear", "do you have a table for"],
  ["clear", "I have to cancel the appointment at"],
  ["clear", "I have a problem with"],
  ["clear", "we need one more chair at."],
  ["rather", "what is the money for"],
  ["rather", "that is the person I came with"],
  ["rather", "there is the train you were waiting for"],
  ["rather", "is there a friend you can talk to"],
  ["finished", "What is the money for?"],
  ["clear", "my phone number is five five five"],
  ["clear", "my phone number is 555 12."],
  ["clear", "the card number is 4111 1111"],
  ["finished", "my phone number is 555 123 4567"],
  ["finished", "my zip code is 94110"],
  ["finished", "my room number is 412"],
  ["finished", "the card number ends in 1234"],
  ["finished", "I have had this phone since 2015"],
  ["rather", "when I arrived at the hotel"],
  ["clear", "five five five", "What is your phone number?"],
  ["clear", "five five five one two", "What is your phone number?"],
  ["clear", "555 123", "May I have your phone number?"],
  ["finished", "five five five one two three four five six seven", "What is your phone number?"],
  ["clear", "4 1 1 1 1 1 1 1", "Please tell me your card number."],
  ["finished", "4111 1111 1111 1111", "Please tell me your card number."],
  ["clear", "nine oh", "What is your zip code?"],
  ["finished", "nine oh two one oh", "What is your zip code?"],
  ["rather", "my number is five five five one"],
  ["clear", "it's spelled A B", "What is your name?"],
  ["clear", "it's spelled"],
  ["clear", "S M I", "Could you spell your name?"],
  ["rather", "J O", ASKED],
  ["rather", "and it was very"],
  ["clear", "one of"],
  ["finished", "not any more"],
];

const GERMAN: readonly Row[] = [
  ["clear", "ich möchte"],
  ["clear", "ich hätte gern einen"],
  ["clear", "ich suche ein Zimmer mit Blick auf die und"],
  ["finished", "ich komme mit"],
  ["clear", "mein Name ist"],
  ["clear", "ich möchte einen Tisch für"],
  ["clear", "das geht nicht, weil"],
  ["clear", "ich brauche äh"],
  ["clear", "ähm", "Was kann ich für Sie tun?"],
  ["rather", "wir fahren nach"],
  ["rather", "wenn Sie Zeit haben"],
  ["clear", "Also,"],
  ["finished", "ich möchte einen Tisch für zwei Personen reservieren"],
  ["finished", "ich weiß nicht"],
  ["finished", "das glaube ich nicht, ich auch nicht"],
  ["finished", "Wann öffnen Sie?"],
  ["finished", "wie spät ist es"],
  ["answered", "ja", "Soll ich das buchen?"],
  ["answered", "nein danke", "Noch etwas?"],
  ["answered", "Hamburg", "In welcher Stadt wohnen Sie?"],
  ["answered", "morgen", "Wann möchten Sie kommen?"],
  ["answered", "zu viert", "Für wie viele Personen?"],
  ["clear", "null eins sieben", "Wie ist Ihre Telefonnummer?"],
  ["finished", "null eins sieben sechs eins zwei drei vier", "Wie ist Ihre Telefonnummer?"],
  ["clear", "meine Telefonnummer ist null eins sieben"],
  ["finished", "meine Zimmernummer ist 412"],
  ["clear", "das schreibt sich M E", "Wie heißen Sie?"],
];

const FRENCH: readonly Row[] = [
  ["clear", "je voudrais"],
  ["clear", "je voudrais une"],
  ["clear", "je cherche un hôtel pour"],
  ["clear", "c'est parce que"],
  ["clear", "je m'appelle"],
  ["clear", "pouvez-vous"],
  ["clear", "je voudrais euh"],
  ["clear", "euh"],
  ["unfinished", "nous sommes arrivés avec"],
  ["rather", "si vous avez le temps"],
  ["clear", "D'abord,"],
  ["finished", "je voudrais réserver une table pour deux personnes"],
  ["finished", "je ne sais pas"],
  ["finished", "s'il vous plaît"],
  ["finished", "Quelle heure est-il ?"],
  ["answered", "oui", "Voulez-vous réserver ?"],
  ["answered", "non merci", "Autre chose ?"],
  ["answered", "Paris", "Où habitez-vous ?"],
  ["answered", "demain", "Quand voulez-vous venir ?"],
  ["clear", "mon numéro de téléphone est le 06 12"],
  ["clear", "zéro six", "Quel est votre numéro de téléphone ?"],
];

const SPANISH: readonly Row[] = [
  ["clear", "quisiera"],
  ["clear", "quiero una"],
  ["clear", "busco un hotel con"],
  ["clear", "es porque"],
  ["clear", "me llamo"],
  ["clear", "me gustaría"],
  ["clear", "necesito eh"],
  ["clear", "pues", "¿Qué desea?"],
  ["rather", "cuando llegue mañana"],
  ["clear", "Bueno,"],
  ["finished", "quiero reservar una mesa para dos personas"],
  ["finished", "no lo sé"],
  ["finished", "¿A qué hora abren?"],
  ["answered", "sí", "¿Quiere reservar?"],
  ["answered", "no gracias", "¿Algo más?"],
  ["answered", "Madrid", "¿En qué ciudad vive?"],
  ["answered", "mañana", "¿Cuándo quiere venir?"],
  ["clear", "mi número de teléfono es 612 34"],
  ["clear", "seis cinco", "¿Cuál es su número de teléfono?"],
];

describe.each([
  ["en-US", ENGLISH],
  ["de", GERMAN],
  ["fr-FR", FRENCH],
  ["es", SPANISH],
] as const)("words in %s", (language, rows) => {
  test.each(rows)("are %s: %s", (expected, text = "", agentText = "") => {
    const found = verdict(judgeText({ text, agentText, language }));
    expect(expected === "unfinished" ? ["clear", "rather"] : [expected]).toContain(found);
  });
});

describe("a language that nobody named", () => {
  test.each([
    ["clear", "I would like a room with the"],
    ["clear", "ich möchte einen Tisch für"],
    ["clear", "je voudrais une chambre avec une"],
    ["clear", "quiero una habitación con una"],
    ["finished", "what your country can do for you"],
    ["none", "Krakow"],
  ] as const)("is told from its common words: %s: %s", (expected, text) => {
    expect(verdict(judgeText({ text, agentText: "", language: null }))).toBe(expected);
  });
});

describe("a language without a table", () => {
  test.each([
    ["none", "chciałbym zarezerwować"],
    ["finished", "Chciałbym zarezerwować stolik."],
    ["finished", "Która godzina?"],
    ["clear", "Dzień dobry,"],
    ["rather", "No więc..."],
  ] as const)("leaves it to the punctuation: %s: %s", (expected, text) => {
    expect(verdict(judgeText({ text, agentText: "", language: "pl" }))).toBe(expected);
  });

  test("has no opinion on nothing", () => {
    expect(judgeText({ text: " ", agentText: "", language: "en" })).toBeNull();
    expect(judgeText({ text: "?!", agentText: "", language: "en" })).toBe(OPINION.sentence);
  });
});

describe("the detector that reads", () => {
  const question = { text: "and then", agentText: "", language: "en", audio: null };

  test("does not listen, and answers at once", async () => {
    const detector = openTextTurnDetector();
    expect(detector).toMatchObject({ name: "text", listens: false });
    const { signal } = new AbortController();
    expect(await detector.judge(question, signal)).toEqual({ finished: OPINION.unfinished });
    expect(await detector.judge({ ...question, language: "pl" }, signal)).toBeNull();
    await detector.close();
  });

  test("rejects when it was aborted", async () => {
    const detector = openTextTurnDetector();
    await expect(detector.judge(question, AbortSignal.abort())).rejects.toThrow("aborted");
  });
});
