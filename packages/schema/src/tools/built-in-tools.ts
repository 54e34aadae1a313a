/** Public tools that the service implements itself. They run inside it, so their definitions have no address. */

import type { BaseToolDefinition } from "./tool.ts";

export const BUILT_IN_TOOL_NAMES = [
  "hangUp",
  "leaveVoicemail",
  "playDtmfSounds",
  "queryCorpus",
  "coldTransfer",
  "warmTransfer",
] as const;
export type BuiltInToolName = (typeof BUILT_IN_TOOL_NAMES)[number];

export interface BuiltInToolRecord {
  /** The id of the same tool in the public service, where it exists, so that stored agents keep working. */
  readonly toolId: string;
  readonly name: string;
  readonly builtIn: BuiltInToolName;
  readonly definition: BaseToolDefinition;
}

/** `created` of the public tools. */
export const BUILT_IN_TOOLS_CREATED = "2025-01-01T00:00:00.000Z";

const text = (description: string) => ({ type: "string", description });
const body = "PARAMETER_LOCATION_BODY";

/** A parameter that the model fills in. */
function given(name: string, schema: Readonly<Record<string, unknown>>, required = true) {
  return { name, location: body, schema, required } as const;
}

/** A fixed value that an override can replace; without a value the parameter is left out. */
function fixed(name: string, value?: unknown) {
  return value === undefined
    ? ({ name, location: body } as const)
    : ({ name, location: body, value } as const);
}

const hangUp: BaseToolDefinition = {
  modelToolName: "hangUp",
  description:
    "Ends the call. Use it when the conversation is over, or when the user asks for it. Say goodbye before.",
  dynamicParameters: [given("reason", text("Why the call ends."), false)],
  staticParameters: [fixed("strict", true)],
};

const leaveVoicemail: BaseToolDefinition = {
  modelToolName: "leaveVoicemail",
  description:
    "Leaves a message and ends the call. Use it when a voicemail box or answering machine has taken the call.",
  dynamicParameters: [given("message", text("The message to leave, word for word."))],
  staticParameters: [fixed("strict", true), fixed("result", "[Leaving voicemail...]")],
};

const playDtmfSounds: BaseToolDefinition = {
  modelToolName: "playDtmfSounds",
  description: "Plays the tones of phone keys, for example to choose from a phone menu.",
  dynamicParameters: [
    given("digits", {
      type: "string",
      pattern: "^[0-9*#A-D]+$",
      description: "The keys to press, in order: 0-9, *, # and A-D.",
    }),
  ],
  staticParameters: [fixed("toneDuration", "0.2s"), fixed("spaceDuration", "0.1s")],
};

const queryCorpus: BaseToolDefinition = {
  modelToolName: "queryCorpus",
  description: "Looks for passages about a question in a collection of documents.",
  dynamicParameters: [
    given("corpus_id", text("The collection to search.")),
    given("query", text("What to look for, as a question or in key words.")),
    given(
      "max_results",
      {
        type: "integer",
        minimum: 1,
        maximum: 20,
        default: 5,
        description: "How many passages are returned at most.",
      },
      false,
    ),
  ],
  staticParameters: [fixed("minimum_score", 0)],
  requirements: { requiredParameterOverrides: ["corpus_id"] },
  precomputable: true,
};

const target = given("target", text("Whom to transfer to: a phone number in E.164 form, or a SIP URI."));

const coldTransfer: BaseToolDefinition = {
  modelToolName: "coldTransfer",
  description: "Transfers the caller to somebody else and leaves the call.",
  dynamicParameters: [target],
  staticParameters: [
    fixed("extraHeaders"),
    fixed("holdMusicUrl"),
    fixed("sipVerb", "REFER"),
    fixed("from"),
    fixed("username"),
    fixed("password"),
  ],
};

const warmTransfer: BaseToolDefinition = {
  modelToolName: "warmTransfer",
  description:
    "Puts the caller on hold, calls a human, explains what it is about, and connects the two if the human accepts.",
  dynamicParameters: [
    target,
    given(
      "context",
      text(
        "What the human should know before taking the call: who the caller is and what they want, in one or two sentences.",
      ),
      false,
    ),
  ],
  staticParameters: [
    fixed("from"),
    fixed("username"),
    fixed("password"),
    fixed("inviteHeaders"),
    fixed("holdMusicUrl"),
    fixed(
      "transferSystemPromptTemplate",
      "You have called a colleague to hand over a caller who is on hold. Say briefly what it is about: {context} " +
        "Then ask whether your colleague takes the call.",
    ),
    fixed("transferMessageTemplate"),
    fixed("transferType", "TRY_REFER"),
    fixed("referHeaders"),
  ],
};

export const BUILT_IN_TOOLS: readonly BuiltInToolRecord[] = [
  {
    toolId: "56294126-5a7d-4948-b67d-3b7e13d55ea7",
    name: "hangUp",
    builtIn: "hangUp",
    definition: hangUp,
  },
  {
    toolId: "8721c74d-af3f-4dfa-a736-3bc170ef917c",
    name: "leaveVoicemail",
    builtIn: "leaveVoicemail",
    definition: leaveVoicemail,
  },
  {
    toolId: "3e9489b1-25de-4032-bb3d-f7b84765ec93",
    name: "playDtmfSounds",
    builtIn: "playDtmfSounds",
    definition: playDtmfSounds,
  },
  {
    toolId: "84a31bac-5c1b-41c3-9058-f81acb7ffaa7",
    name: "queryCorpus",
    builtIn: "queryCorpus",
    definition: queryCorpus,
  },
  {
    toolId: "2fff509d-273f-414e-91ff-aa933435a545",
    name: "coldTransfer",
    builtIn: "coldTransfer",
    definition: coldTransfer,
  },
  {
    toolId: "6d1f0d3b-8c52-4a0e-9b7e-2f4f5f0c9a61",
    name: "warmTransfer",
    builtIn: "warmTransfer",
    definition: warmTransfer,
  },
];
