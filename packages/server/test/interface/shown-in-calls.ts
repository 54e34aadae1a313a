/** What shows the rows about agents, their templates and tools. */

import type { agentRules, templateRules } from "./template-rules.ts";
import type {
  dataConnectionRules,
  firstSpeakerRules,
  mediumRules,
  messageFlagRules,
  timedMessageRules,
  vadRules,
  voiceRules,
} from "./setting-rules.ts";
import { KEPT, missing, REFUSED, requests, shownBy, type RowsOf, type Shown } from "./shown.ts";
import type { callToolRules, selectedToolRules, toolDefinitionRules } from "./tool-rules.ts";

const CONVERSATION = "test/conversation.media.test.ts";
const ENGINE = "test/engine.media.test.ts";
const JOINING = "test/faults-joining.media.test.ts";
const ENGINES = "test/faults-engines.media.test.ts";
const TOKENS = "test/token-counts.media.test.ts";
const CREATE = "src/lifecycle/create/create-call.test.ts";
const EXTERNAL_VOICES = "test/external-voices.media.test.ts";
const REFUSALS = "src/lifecycle/create/create-call-refusals.test.ts";
const PLAN = "src/plan/compile-plan.test.ts";
const TOOLS = "src/plan/compile-tools.test.ts";
const TURN = "src/call/turn/turn.test.ts";
const INTERRUPTION = "src/call/turn/interruption.test.ts";
const FIRST_SPEAKER = "src/call/reply/first-speaker.test.ts";
const INACTIVITY = "src/call/life/inactivity.test.ts";
const CLIENT_MESSAGES = "src/call/life/client-messages.test.ts";
const DATA_CONNECTION = "src/call/life/data-connection.test.ts";
const USE = "src/call/tools/use.test.ts";
const IMPLEMENTATIONS = "src/call/tools/implementations.test.ts";
const HTTP_TOOLS = "src/providers/tools-http/tools-http.media.test.ts";

export const agentShown: RowsOf<typeof agentRules> = {
  agentId: [requests("present, and not changed by bodies")],
  publishedRevisionId: [requests("another one after a change, the same without one")],
  name: [requests("kept up to 64 characters, made from the id without one, refused beyond")],
  created: [requests("present, and not changed by bodies")],
  callTemplate: [requests("replaced as a whole, and cleared by null")],
  statistics: [requests("counts a call that is made")],
};

export const templateShown: RowsOf<typeof templateRules> = {
  name: [KEPT],
  created: [requests("present, and the same after a change")],
  updated: [requests("later after a change")],
  medium: [
    ...shownBy(
      "src/plan/call-settings.test.ts",
      "an empty medium is WebRTC; the older first speaker counts; lower limits lower the defaults",
    ),
    ...shownBy(
      "test/client/web-rtc-call.media.test.ts",
      "hears the agent, is heard, follows the transcript and the state, and leaves",
    ),
  ],
  initialOutputMedium: shownBy(ENGINE, "writes instead of speaking, and speaks again"),
  joinTimeout: shownBy(JOINING, "after the join timeout: the call has ended as unjoined, and its URL is 410"),
  maxDuration: shownBy(CONVERSATION, "at maxDuration says timeExceededMessage to its end, then is a timeout"),
  vadSettings: shownBy(TURN, "the transcript is asked for early, and the turn ends at the endpoint delay"),
  recordingEnabled: shownBy(
    JOINING,
    "is 425 while the call runs, then a stereo WAV with the caller left and the agent right",
    "is 404 where none was asked for, during the call and after it",
  ),
  firstSpeakerSettings: shownBy(
    FIRST_SPEAKER,
    "without text, greets from a generation with an instruction that is not kept",
  ),
  // The model server of these tests reports its counts by the prompt that it got.
  systemPrompt: [
    ...shownBy(TOKENS, "are those of the first and the latest request of each stage, and stay after the end"),
    ...shownBy(CREATE, "is filled from its context, once"),
  ],
  temperature: shownBy(
    "src/call/tools/stage.test.ts",
    "an answer begins the next stage, which inherits messages and state",
  ),
  model: shownBy(CREATE, "model %s means %s and is echoed as sent"),
  voice: shownBy(ENGINES, "a voice that %s: the text goes out whole"),
  externalVoice: [
    ...shownBy(EXTERNAL_VOICES, "without a record is heard, and its header is in no log and no answer"),
    ...shownBy(REFUSALS, "501 for %s"),
  ],
  voiceOverrides: shownBy(EXTERNAL_VOICES, "of the account is heard, with its overrides"),
  languageHint: shownBy(
    ENGINES,
    "a recogniser that is slower than the end of the turn: the answer waits for it",
  ),
  timeExceededMessage: shownBy(
    CONVERSATION,
    "at maxDuration says timeExceededMessage to its end, then is a timeout",
  ),
  inactivityMessages: [
    ...shownBy(ENGINE, "minds silence, and hangs up at the end of its patience"),
    ...shownBy(
      INACTIVITY,
      "come in order, each its duration after the end of the one before, and are recorded",
    ),
  ],
  selectedTools: shownBy(ENGINE, "a stored tool is selected by its name, and its history names the call"),
  dataConnection: shownBy(ENGINE, "of the data connection is asked for and answered there"),
  contextSchema: [requests("a call without the context is refused, and one with it has its text filled in")],
};

const TELEPHONY = "test/telephony.media.test.ts";
/** A call that the caller's carrier connects. */
const carrierCall = shownBy(
  TELEPHONY,
  "hears recorded speech, and its answer is heard as it sounds",
  "is silent after an interruption, and the record has what was heard, within a word",
  "takes keys as words, and is hung up by the service",
);
/** The same for a carrier with which the service could dial. */
const diallingCarrier: readonly Shown[] = [
  ...carrierCall,
  ...shownBy(
    "test/carriers.media.test.ts",
    "a call is dialled through %s, answered, and ended by the other side",
  ),
];

export const mediumShown: RowsOf<typeof mediumRules> = {
  "at most one key": [REFUSED],
  webRtc: shownBy(
    "test/client/web-rtc-call.media.test.ts",
    "hears the agent, is heard, follows the transcript and the state, and leaves",
  ),
  telephony1: diallingCarrier,
  "serverWebSocket.inputSampleRate": shownBy(
    CONVERSATION,
    "audio of %d Hz in and another rate out is a conversation too",
  ),
  "serverWebSocket.outputSampleRate": shownBy(
    CONVERSATION,
    "audio of %d Hz in and another rate out is a conversation too",
  ),
  "serverWebSocket.clientBufferSizeMs": [
    ...shownBy(
      "test/reliability.test.ts",
      "reliability 12: frames leave every 20 ms, neither earlier nor later than the client's buffer allows",
    ),
    missing("a call with another buffer than that of 60 ms"),
  ],
  "serverWebSocket.dataMessages": shownBy(CLIENT_MESSAGES, "every kind of message can be switched off"),
  telephony2: diallingCarrier,
  telephony3: diallingCarrier,
  telephony4: carrierCall,
  sip: [
    ...shownBy(
      "test/sip.media.test.ts",
      "a call to an agent is answered, hears recorded speech, is heard, and is hung up by the caller",
    ),
    ...shownBy("test/sip.media.test.ts", "a call is dialled, answered, heard, and hung up by the phone"),
  ],
};

const off = shownBy(CLIENT_MESSAGES, "every kind of message can be switched off");

export const messageFlagShown: RowsOf<typeof messageFlagRules> = {
  pong: shownBy(CLIENT_MESSAGES, "ping is answered with its own timestamp, where pong is on"),
  state: [...shownBy(FIRST_SPEAKER, "says its text exactly, after the delay"), ...off],
  transcript: [
    ...shownBy(CONVERSATION, "of several turns is reported in order, and the record is the same"),
    ...off,
  ],
  clientToolInvocation: shownBy(ENGINE, "of the client is asked for and answered by data messages"),
  dataConnectionToolInvocation: shownBy(ENGINE, "of the data connection is asked for and answered there"),
  playbackClearBuffer: shownBy(
    INTERRUPTION,
    "the client's buffer is cleared after the pause, once, and only where the flag is on",
  ),
  callStarted: [
    ...shownBy("src/call/life/ending.test.ts", "the join is recorded and announced in order"),
    ...off,
  ],
  debug: shownBy(
    CLIENT_MESSAGES,
    "debug messages come when the plan or the join asks for them, and never repeat what was said",
  ),
  callEvent: [
    ...shownBy("src/call/life/ending.test.ts", "the join is recorded and announced in order"),
    ...off,
  ],
  toolUsed: shownBy(
    USE,
    "a call is run after the speech of its generation, and its result is in the next prompt",
  ),
  userStartedSpeaking: shownBy(TURN, "speech opens an utterance that begins before its detection"),
  userStoppedSpeaking: shownBy(TURN, "speech opens an utterance that begins before its detection"),
};

export const dataConnectionShown: RowsOf<typeof dataConnectionRules> = {
  websocketUrl: shownBy(
    "src/transports/data-connection/data-connection.media.test.ts",
    "goes to the URL with custom headers and the signature",
  ),
  audioConfig: shownBy(
    "src/runner/data-connection/data-channel.test.ts",
    "gets the audio: the caller left, the agent as heard right",
    "gets no audio where the plan asks for none",
  ),
  dataMessages: shownBy(DATA_CONNECTION, "follows its own flags, whatever the client's are"),
};

export const vadShown: RowsOf<typeof vadRules> = {
  turnEndpointDelay: [
    ...shownBy(PLAN, "turnEndpointDelay %s waits %i ms"),
    ...shownBy(TURN, "the transcript is asked for early, and the turn ends at the endpoint delay"),
  ],
  minimumTurnDuration: shownBy(TURN, "speech shorter than a turn makes none, whatever was understood"),
  minimumInterruptionDuration: [
    ...shownBy(PLAN, "the larger of both durations interrupts: %o"),
    ...shownBy(
      INTERRUPTION,
      "speech under the interruption duration does not pause, but is answered afterwards",
    ),
  ],
  frameActivationThreshold: shownBy(TURN, "a score at the threshold is not speech"),
};

export const firstSpeakerShown: RowsOf<typeof firstSpeakerRules> = {
  "exactly one": [REFUSED],
  "user.fallback": shownBy(
    CONVERSATION,
    "has its first speaker: a user who says nothing is helped by the fallback",
  ),
  agent: [
    ...shownBy(CONVERSATION, "does not touch an uninterruptible greeting, and is answered after it"),
    ...shownBy(
      FIRST_SPEAKER,
      "says its text exactly, after the delay",
      "without text, greets from a generation with an instruction that is not kept",
    ),
  ],
};

const SETTINGS_SENT = "sends each setting that is set, and no other";

export const voiceShown: RowsOf<typeof voiceRules> = {
  "exactly one key": [REFUSED],
  provider1: shownBy(
    "src/providers/tts-elevenlabs/requests.test.ts",
    "sends all settings, only those that are set, and only in the first message",
  ),
  provider2: shownBy(
    "src/providers/tts-cartesia/voice-settings.test.ts",
    "sends generationConfig to newer models as it is",
    "sends older models the emotions that they have",
  ),
  provider3: shownBy("src/providers/tts-lmnt/lmnt.media.test.ts", SETTINGS_SENT),
  provider4: shownBy(
    "src/providers/tts-google/tts-google.media.test.ts",
    "sends every field and plays the samples that come",
  ),
  provider5: shownBy("src/providers/tts-inworld/inworld.media.test.ts", SETTINGS_SENT),
  provider6: shownBy("src/providers/tts-respeecher/respeecher.media.test.ts", SETTINGS_SENT),
  generic: shownBy(
    "src/providers/tts-generic/tts-generic.media.test.ts",
    "puts the text into every text of the body, and nothing else",
    "takes the type of the definition rather than the Content-Type",
    "gives words by their rate, and those that would come later at the end",
  ),
};

const inOrder = shownBy(
  INACTIVITY,
  "come in order, each its duration after the end of the one before, and are recorded",
);

export const timedMessageShown: RowsOf<typeof timedMessageRules> = {
  duration: inOrder,
  message: inOrder,
  endBehavior: shownBy(
    INACTIVITY,
    "soft: the call ends after the message",
    "strict: the message is said to its end whatever the user does, and the call ends",
  ),
};

export const selectedToolShown: RowsOf<typeof selectedToolRules> = {
  "exactly one of toolId, toolName, temporaryTool": [REFUSED],
  toolId: [requests("the call has that tool, of two with one name")],
  toolName: shownBy(ENGINE, "a stored tool is selected by its name, and its history names the call"),
  temporaryTool: [
    ...shownBy(ENGINE, "of HTTP gets what its parameters say, once, and its answer is said"),
    ...shownBy(
      "src/lifecycle/create/create-call-prior.test.ts",
      "temporary tools come along with their credentials, under the new call's token and listing",
    ),
  ],
  nameOverride: [requests("the call lists the tool under that name")],
  descriptionOverride: shownBy(TOOLS, "descriptions"),
  authTokens: shownBy(HTTP_TOOLS, "sends values, credentials and ids to their places, once"),
  parameterOverrides: shownBy(TOOLS, "an override of any kind is fixed and hidden, in its place"),
  transitionId: [KEPT],
};

export const toolDefinitionShown: RowsOf<typeof toolDefinitionRules> = {
  modelToolName: shownBy(ENGINE, "of HTTP gets what its parameters say, once, and its answer is said"),
  description: shownBy(TOOLS, "descriptions"),
  dynamicParameters: shownBy(ENGINE, "of HTTP gets what its parameters say, once, and its answer is said"),
  staticParameters: [
    ...shownBy(HTTP_TOOLS, "sends values, credentials and ids to their places, once"),
    ...shownBy(
      "test/tools.media.test.ts",
      "a test of a tool and a call send the same request, nulls as well",
    ),
  ],
  automaticParameters: shownBy(ENGINE, "of HTTP gets what its parameters say, once, and its answer is said"),
  requirements: shownBy(TOOLS, "nothing usable", "an override that the tool demands must be given"),
  timeout: shownBy(ENGINE, "that is too slow fails after its timeout"),
  precomputable: shownBy(
    USE,
    "a precomputable tool runs while the user may still continue, and its result counts once the speech is over",
  ),
  http: shownBy(ENGINE, "of HTTP gets what its parameters say, once, and its answer is said"),
  client: shownBy(ENGINE, "of the client is asked for and answered by data messages"),
  dataConnection: shownBy(ENGINE, "of the data connection is asked for and answered there"),
  staticResponse: shownBy(IMPLEMENTATIONS, "may be all there is"),
};

const listed = requests("in the list of a call's tools");

export const callToolShown: RowsOf<typeof callToolRules> = {
  callToolId: [listed],
  toolId: [listed],
  name: [listed],
  definition: [listed],
  "definition.http": [listed],
  enumerations: shownBy(USE, "%s after %j: %i generations"),
};
