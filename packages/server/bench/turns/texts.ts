/**
 * What callers say in the benchmark of turn-taking, as one would write it. A text is spoken by a synthetic voice; the
 * recogniser's text is made from it. They were written before the rules that they judge were changed, and a hash of the
 * text, not a person, decides which column it belongs to.
 */

export type TextKind = "sentence" | "answer" | "list" | "number" | "spelled" | "hesitation";

export interface Said {
  readonly kind: TextKind;
  readonly text: string;
  /** What the agent has just said; null: the caller begins. */
  readonly agent: string | null;
}

const said = (kind: TextKind, texts: readonly string[], agent: string | null = null): Said[] =>
  texts.map((text) => ({ kind, text, agent }));
const asked = (kind: TextKind, pairs: readonly (readonly [string, string])[]): Said[] =>
  pairs.map(([agent, text]) => ({ kind, text, agent }));

const SENTENCES = [
  "I would like to book a table for four people tomorrow evening.",
  "My order arrived yesterday, but one of the plates was broken.",
  "Can you tell me when the next train to Boston leaves?",
  "I need to move my appointment from Tuesday to Thursday afternoon.",
  "The heating in my apartment has not been working since Sunday.",
  "Is it possible to change the delivery address before Friday?",
  "I paid the invoice last week and still got a reminder this morning.",
  "Please send the documents to my office instead of my home.",
  "We are looking for a quiet room with a view of the garden.",
  "My daughter has a fever and I want to see a doctor today.",
  "Do you have the blue jacket in a larger size?",
  "I forgot my password and the email with the link never came.",
  "The driver left the parcel in front of the wrong door.",
  "Could you repeat the last part a little more slowly?",
  "I want to cancel my subscription at the end of the month.",
  "There is a strange noise when I start the washing machine.",
  "How much does it cost to park near the station for a week?",
  "Somebody used my card in a shop that I have never visited.",
  "We will arrive late because our flight was delayed in Madrid.",
  "What documents do I have to bring to the interview?",
  "Last year we stayed in the same hotel and liked it very much.",
  "If the weather is good we would prefer to sit outside.",
  "I already spoke with your colleague about this problem on Monday.",
  "The internet connection drops every evening at around eight.",
  "Let me know as soon as the technician is on his way.",
  "I think there is a mistake in the contract you sent me.",
  "She told me that the office opens at nine on weekdays.",
  "Would it be cheaper to travel on a different day?",
  "My husband is allergic to nuts, so please tell the kitchen.",
  "The machine takes my coins but does not give me a ticket.",
  "I have been waiting for a call from your support team.",
  "Please add two bottles of water and a salad to my order.",
  "We moved last month and need to update our address.",
  "What happens if I return the car one day later?",
  "The picture on the screen turns green after a few minutes.",
  "I am calling about the apartment that you advertised online.",
  "You can reach me at work until five.",
  "Nobody answered the phone when I called this number before.",
] as const;

const ANSWERS = [
  ["Shall I book it for you?", "Yes, please."],
  ["Which city do you live in?", "Boston."],
  ["When would you like to come?", "Tomorrow evening."],
  ["For how many people?", "Four."],
  ["Is there anything else I can do for you?", "No, thank you."],
  ["What is your first name?", "Margaret."],
  ["Would you like a window seat or an aisle seat?", "A window seat."],
  ["Did the restart help?", "No, it didn't."],
  ["Are you a customer already?", "Yes, I am."],
  ["How would you like to pay?", "By credit card."],
  ["Which day suits you best?", "Wednesday afternoon."],
  ["Is the light on the box green?", "I don't know."],
  ["Can I put you on hold for a moment?", "Sure."],
  ["What is the reason for your call?", "A broken dishwasher."],
  ["How long will you stay?", "Three nights."],
  ["Is that correct?", "Yes, that's right."],
] as const;

const LISTS = [
  "I would like two coffees, a green tea, three croissants and a glass of water.",
  "My symptoms are a headache, a sore throat, and a little fever.",
  "We need eggs, flour, butter, sugar and some vanilla.",
  "On Monday, on Wednesday and on the last Friday of the month.",
  "The red one, the black one, and both of the white ones.",
] as const;

const NUMBERS = [
  ["What is your phone number?", "Five five five one two three four."],
  ["What is your phone number?", "Zero one seven two, eight three four, nine one six."],
  ["What is your date of birth?", "The twenty first of March nineteen eighty four."],
  ["Could you give me the order number?", "Seven two nine zero four."],
  [
    "What is the number of your card?",
    "Four two four two, one one nine six, three eight zero zero, five five one seven.",
  ],
  ["What is your postcode?", "Nine four one zero five."],
  ["How much was the invoice?", "Two hundred and thirty seven euros and fifty cents."],
  ["When does your flight leave?", "At a quarter past six in the morning on the third of June."],
] as const;

const SPELLED = [
  ["What is your email address?", "J dot miller at example dot com."],
  ["What is your email address?", "Anna underscore k at mail dot example dot org."],
  ["Can you spell your last name for me?", "S C H M I D T."],
  ["How is that spelled?", "K O W A L S K I."],
  ["What is your email address?", "My address is t o m at example dot net."],
  ["What is the licence plate?", "B K four seven one X."],
] as const;

const HESITATIONS = [
  "I am looking for um a quiet hotel by the sea.",
  "So uh I wanted to ask about my last bill.",
  "It was well I think it was on Thursday.",
  "We need a room for let me see three adults and two children.",
  "Um my name is on the list but uh they could not find it.",
  "You know I was thinking of something like a small boat.",
  "My number is hold on I have it here four four seven.",
  "I would prefer hmm maybe the later one.",
] as const;

export const TEXTS: readonly Said[] = [
  ...said("sentence", SENTENCES),
  ...asked("answer", ANSWERS),
  ...said("list", LISTS),
  ...asked("number", NUMBERS),
  ...asked("spelled", SPELLED),
  ...said("hesitation", HESITATIONS),
];

/** Listening words, as recognisers write them, beside what the synthetic voice is given to say. */
export const LISTENING: readonly (readonly [written: string, spoken: string])[] = [
  ["mhm", "mhm"],
  ["Mm-hmm.", "mhm"],
  ["Mmhmm", "mhm"],
  ["M-hm.", "mhm"],
  ["Mm hmm.", "mhm"],
  ["Mhmm,", "mhm"],
  ["MHM", "mhm"],
  ["Mmm.", "mmm"],
  ["Mm.", "mm"],
  ["Hmm.", "hmm"],
  ["Hm", "hmm"],
  ["Uh-huh.", "uh huh"],
  ["uh huh", "uh huh"],
  ["Uhhuh", "uh huh"],
  ["Aha.", "aha"],
  ["Ah.", "ah"],
  ["Ohh.", "oh"],
  ["Oh.", "oh"],
  ["Okay.", "okay"],
  ["OK", "okay"],
  ["O.K.", "okay"],
  ["Okay, okay.", "okay okay"],
  ["Yeah.", "yeah"],
  ["yeah yeah", "yeah yeah"],
  ["Yeah, okay.", "yeah okay"],
  ["Yes.", "yes"],
  ["Yep.", "yep"],
  ["Right.", "right"],
  ["Right, right.", "right right"],
  ["All right.", "all right"],
  ["Alright.", "all right"],
  ["Sure.", "sure"],
  ["I see.", "I see"],
  ["Okay, I see.", "okay I see"],
  ["Oh, I see.", "oh I see"],
  ["Got it.", "got it"],
  ["Of course.", "of course"],
  ["Great.", "great"],
  ["That's nice.", "that's nice"],
  ["Sounds good.", "sounds good"],
  ["Makes sense.", "makes sense"],
  ["Really.", "really"],
  ["Wow.", "wow"],
  ["Good.", "good"],
  ["Exactly.", "exactly"],
  ["Perfect.", "perfect"],
];

/** What a caller says to take the turn, while the agent speaks. */
export const INTERRUPTIONS = [
  "Stop.",
  "Wait.",
  "No.",
  "Hold on.",
  "Wait a moment please.",
  "No, that is wrong.",
  "Stop it.",
  "Excuse me.",
  "Can I ask something?",
  "Yes but how much is it?",
  "Okay stop.",
  "What?",
  "I have a question.",
  "Sorry, which one?",
] as const;

/** It asks nothing, so a listening word is no answer to it. */
export const STORY =
  "There is a small hotel by the sea, ten meters from the water. Its guests come every summer, and they stay for a week " +
  "or two. They love the quiet rooms, the long breakfasts, and the walks along the beach in the evening.";
