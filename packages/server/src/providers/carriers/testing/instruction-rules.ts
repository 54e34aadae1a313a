/**
 * What carriers accept as instructions: the elements and attributes of their documentation, with the values that they
 * check. Everything else is a problem, because carriers skip or refuse it in the middle of a call.
 */

/** Where the instructions are used. `question`: for the called person, before two calls are connected. */
export type InstructionPlace = "call" | "question" | "music";

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

interface ElementRule {
  readonly attributes: Readonly<Record<string, RegExp>>;
  readonly required?: readonly string[];
  readonly children?: readonly string[];
  readonly text?: RegExp;
}

export interface InstructionRules {
  readonly elements: Readonly<Record<string, ElementRule>>;
  /** Elements directly in the document. */
  readonly verbs: Readonly<Record<InstructionPlace, readonly string[]>>;
}

/** Empty: the carrier accepts the instructions. */
export function problemsOf(xml: string, place: InstructionPlace, rules: InstructionRules): readonly string[] {
  const root = parseXml(xml);
  if (root === null) return ["the document is not well formed"];
  if (root.name !== "Response" || Object.keys(root.attributes).length > 0 || root.text !== "")
    return ["the document is no Response"];
  const verbs = rules.verbs[place];
  const foreign = root.children.filter(({ name }) => !verbs.includes(name));
  return [
    ...foreign.map(({ name }) => `${name} cannot be used for ${place}`),
    ...root.children.flatMap((element) => problemsIn(element, rules)),
  ];
}

function problemsIn({ name, attributes, children, text }: XmlElement, rules: InstructionRules): string[] {
  const rule = rules.elements[name];
  if (rule === undefined) return [`there is no element ${name}`];
  const problems: string[] = [];
  for (const [attribute, value] of Object.entries(attributes)) {
    const allowed = rule.attributes[attribute];
    if (allowed === undefined) problems.push(`${name} has no attribute ${attribute}`);
    else if (!allowed.test(value)) problems.push(`${name} has the ${attribute} ${value}`);
  }
  for (const attribute of rule.required ?? [])
    if (attributes[attribute] === undefined) problems.push(`${name} needs ${attribute}`);
  if (!(rule.text ?? /^$/).test(text)) problems.push(`${name} has the text ${text}`);
  for (const child of children) {
    if (rule.children?.includes(child.name) === true) problems.push(...problemsIn(child, rules));
    else problems.push(`${name} contains ${child.name}`);
  }
  if (name === "Dial" && children.length !== 1) problems.push("Dial needs one number");
  return problems;
}

const DECLARATION = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/;
const TAG = /<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<>]*")*)\s*(\/?)>/y;
const TEXT = /[^<>]+/y;
const ENTITY = /&(?:amp|lt|gt|quot|apos);/g;

/** Null: it is not well formed. Without comments, namespaces and the like, which the service never writes. */
function parseXml(xml: string): XmlElement | null {
  if (!DECLARATION.test(xml)) return null;
  const source = xml.replace(DECLARATION, "");
  const top: { name: string; attributes: Record<string, string>; children: XmlElement[]; text: string } = {
    name: "",
    attributes: {},
    children: [],
    text: "",
  };
  const open = [top];
  let at = 0;
  while (at < source.length) {
    const parent = open.at(-1);
    if (parent === undefined) return null;
    TEXT.lastIndex = at;
    const text = TEXT.exec(source)?.[0];
    if (text !== undefined) {
      if (/&/.test(text.replaceAll(ENTITY, ""))) return null;
      parent.text += decoded(text);
      at += text.length;
      continue;
    }
    TAG.lastIndex = at;
    const [tag, closing = "", name = "", attributes = "", selfClosing = ""] = TAG.exec(source) ?? [];
    if (tag === undefined) return null;
    at += tag.length;
    if (closing !== "") {
      if (parent.name !== name || open.length === 1) return null;
      open.pop();
      continue;
    }
    const element = { name, attributes: attributesOf(attributes), children: [], text: "" };
    parent.children.push(element);
    if (selfClosing === "") open.push(element);
  }
  const [root] = top.children;
  return open.length === 1 && top.children.length === 1 && top.text === "" ? (root ?? null) : null;
}

function attributesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(/([A-Za-z]+)="([^"]*)"/g)];
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, decoded(value)]));
}

function decoded(text: string): string {
  const plain = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" } as const;
  return text.replaceAll(ENTITY, (entity) => plain[entity as keyof typeof plain]);
}

const ADDRESS = /^(?:https:\/\/|http:\/\/127\.0\.0\.1:)[^\s]+$/;
const NUMBER = /^\+[1-9]\d{6,14}$/;
const POST = /^POST$/;
const LANGUAGE = /^[a-z]{2}-[A-Z]{2}$/;
const SPOKEN = /\S/;
/** 5 to 120 s. */
const RING = /^(?:[5-9]|[1-9]\d|1[01]\d|120)$/;
/** 60 to 14,400 s. */
const LONGEST = /^(?:[6-9]\d|[1-9]\d{2,3}|1[0-3]\d{3}|14[0-3]\d{2}|14400)$/;
const FLAG = /^(?:true|false)$/;
/** The name of a conference. */
const ROOM = /^[A-Za-z0-9_-]{1,128}$/;
const EVENTS = /^(?:initiated|ringing|answered|completed)(?: (?:initiated|ringing|answered|completed))*$/;

const CALLED = {
  url: ADDRESS,
  method: POST,
  statusCallback: ADDRESS,
  statusCallbackEvent: EVENTS,
  statusCallbackMethod: POST,
};

/** Telnyx has the same elements, with more attributes of the stream. */
export const TWILIO_RULES: InstructionRules = {
  verbs: {
    call: ["Dial", "Say", "Hangup", "Connect", "Redirect", "Pause"],
    question: ["Gather", "Say", "Play", "Pause", "Redirect", "Hangup"],
    music: ["Play"],
  },
  elements: {
    Dial: {
      attributes: { action: ADDRESS, method: POST, timeout: RING, timeLimit: LONGEST, callerId: NUMBER },
      required: ["action"],
      children: ["Number", "Sip", "Conference"],
    },
    Conference: {
      attributes: {
        beep: /^(?:true|false|onEnter|onExit)$/,
        startConferenceOnEnter: FLAG,
        endConferenceOnExit: FLAG,
        maxParticipants: /^(?:[2-9]|[1-9]\d|1\d\d|2[0-4]\d|250)$/,
        waitUrl: /^https?:\/\/\S+$/,
        waitMethod: /^(?:GET|POST)$/,
      },
      text: ROOM,
    },
    Number: { attributes: CALLED, text: NUMBER },
    Sip: { attributes: { ...CALLED, username: SPOKEN, password: SPOKEN }, text: /^sips?:[^\s@]+@[^\s]+$/ },
    Gather: {
      attributes: { action: ADDRESS, method: POST, numDigits: /^[1-9]\d?$/, timeout: /^\d{1,2}$/ },
      required: ["action"],
      children: ["Say", "Play", "Pause"],
    },
    Say: { attributes: { language: LANGUAGE }, text: SPOKEN },
    Play: { attributes: { loop: /^\d{1,4}$/ }, text: /^https?:\/\/\S+$/ },
    Pause: { attributes: { length: /^\d{1,3}$/ } },
    Redirect: { attributes: { method: POST }, text: ADDRESS },
    Hangup: { attributes: {} },
    Connect: { attributes: {}, children: ["Stream"] },
    Stream: {
      attributes: {
        url: /^(?:wss:\/\/|ws:\/\/127\.0\.0\.1:)[^\s?]+$/,
        track: /^inbound_track$/,
        codec: /^PCMU$/,
        bidirectionalMode: /^rtp$/,
        bidirectionalCodec: /^PCMU$/,
        bidirectionalSamplingRate: /^8000$/,
      },
      required: ["url"],
    },
  },
};

export const PLIVO_RULES: InstructionRules = {
  verbs: {
    call: ["Dial", "Conference", "Speak", "Hangup", "Stream", "Redirect", "Wait"],
    // The carrier ignores all others there.
    question: ["Speak", "Play", "Wait"],
    music: ["Play"],
  },
  elements: {
    Dial: {
      attributes: {
        action: ADDRESS,
        method: POST,
        redirect: /^(?:true|false)$/,
        timeout: RING,
        timeLimit: LONGEST,
        callerId: /^\+?\d{7,15}$/,
        callbackUrl: ADDRESS,
        callbackMethod: POST,
        confirmSound: ADDRESS,
        confirmKey: /^[0-9*#]$/,
        confirmTimeout: /^\d{1,3}$/,
        dialMusic: ADDRESS,
      },
      required: ["action"],
      children: ["Number"],
    },
    Conference: {
      attributes: {
        startConferenceOnEnter: FLAG,
        endConferenceOnExit: FLAG,
        maxMembers: /^(?:[2-9]|1\d|20)$/,
        waitSound: ADDRESS,
        action: ADDRESS,
        method: POST,
        redirect: FLAG,
        timeLimit: LONGEST,
      },
      text: ROOM,
    },
    Number: { attributes: {}, text: NUMBER },
    Speak: { attributes: { language: LANGUAGE }, text: SPOKEN },
    Play: { attributes: { loop: /^\d{1,4}$/ }, text: /^https?:\/\/\S+$/ },
    Wait: { attributes: { length: /^\d{1,3}$/ } },
    Redirect: { attributes: { method: POST }, text: ADDRESS },
    Hangup: { attributes: {} },
    Stream: {
      attributes: {
        bidirectional: /^true$/,
        keepCallAlive: /^true$/,
        audioTrack: /^inbound$/,
        contentType: /^audio\/x-l16;rate=16000$/,
        streamTimeout: /^\d{1,5}$/,
      },
      text: /^(?:wss:\/\/|ws:\/\/127\.0\.0\.1:)\S+$/,
    },
  },
};
