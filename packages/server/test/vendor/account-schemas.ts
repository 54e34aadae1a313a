/** The records of an account in the public service's interface: voices, corpora, carriers, usage, keys. */

import type { Fields } from "./notation.ts";

const SPEAKERS = ["elevenLabs", "cartesia", "lmnt", "google", "inworld", "respeecher"] as const;
const ofSpeakers = (type: string): Fields => Object.fromEntries(SPEAKERS.map((name) => [name, type]));

const SCOPE = "=read,calls,admin";

/** Which agents may be called through a carrier's account. */
const PERMISSIONS: Fields = {
  callCreationAllowedAgentIds: "uuid[]",
  callCreationAllowAllAgents: "boolean",
  requestContextMapping: "texts",
};
const FIGURES: Fields = {
  "totalCount*": "integer",
  "errorCount*": "integer",
  "joinedCount*": "integer",
  "duration*": "duration",
  "billedMinutes*": "number",
};

export const ACCOUNT_SCHEMAS: Readonly<Record<string, Fields>> = {
  ExternalVoice: { ...ofSpeakers("object"), generic: "object" },
  Voice: {
    "voiceId*": "uuid",
    "name*": "string",
    description: "string|null",
    primaryLanguage: "string|null",
    "languageLabel*": "string|null",
    "previewUrl*": "url",
    "ownership*": "=public,private",
    "billingStyle*": "VOICE_BILLING_STYLE_=INCLUDED,EXTERNAL",
    "provider*": `=${SPEAKERS.join(",")},generic|null`,
    definition: "ExternalVoice",
  },
  AccountTtsKeys: ofSpeakers("KeyPrefix"),
  KeyPrefix: { "prefix*": "string" },
  Corpus: {
    corpusId: "uuid",
    created: "moment",
    name: "string",
    description: "string",
    stats: "CorpusStats",
  },
  CorpusStats: {
    status: "CORPUS_STATUS_=EMPTY,INITIALIZING,READY,UPDATING",
    lastUpdated: "moment",
    numChunks: "integer",
    numDocs: "integer",
    numVectors: "integer",
  },
  CorpusSource: {
    corpusId: "uuid",
    sourceId: "uuid",
    created: "moment",
    name: "string",
    description: "string",
    stats: "SourceStats",
    crawl: "object",
    upload: "object",
    advanced: "object",
    loadSpec: "object",
  },
  SourceStats: {
    status: "SOURCE_STATUS_=INITIALIZING,READY,UPDATING",
    lastUpdated: "moment",
    numDocs: "integer",
  },
  CorpusDocument: {
    corpusId: "uuid",
    sourceId: "uuid",
    documentId: "uuid",
    created: "moment",
    mimeType: "string",
    metadata: "object",
    sizeBytes: "int64",
  },
  CorpusUpload: { "documentId*": "uuid", "presignedUrl*": "url" },
  CorpusQueryResult: { content: "string", score: "number", citation: "Citation" },
  Citation: { sourceId: "uuid", documentId: "uuid", publicUrl: "string", title: "string" },
  TwilioConfig: { "accountSid*": "string", "authTokenPrefix*": "KeyPrefix", ...PERMISSIONS },
  TelnyxConfig: {
    "accountSid*": "string",
    "apiKeyPrefix*": "KeyPrefix",
    "publicKeyPrefix*": "KeyPrefix",
    "applicationSid*": "string",
    ...PERMISSIONS,
  },
  PlivoConfig: { "authId*": "string", "authTokenPrefix*": "KeyPrefix", ...PERMISSIONS },
  AccountTelephonyConfig: { twilio: "TwilioConfig", telnyx: "TelnyxConfig", plivo: "PlivoConfig" },
  SipConfig: {
    allowedCidrRanges: "string[]",
    allowAllAgents: "boolean",
    "allowedAgents*": "SipAgent[]",
    fallbackHandler: "Callback|null",
    "domain*": "string",
  },
  SipAgent: { "agentId*": "uuid", toUserPattern: "string" },
  SipRegistration: {
    "registrationId*": "string",
    "created*": "moment",
    "username*": "string",
    "proxy*": "string",
    outboundProxy: "string|null",
    authUser: "string|null",
    "successful*": "boolean|null",
  },
  Account: {
    "accountId*": "uuid",
    "name*": "string",
    "activeCalls*": "integer",
    "allowedConcurrentCalls*": "integer|null",
  },
  UsageResponse: { "dailyUsage*": "UsageDay[]", "totalMinutes*": "number", "totalSipMinutes*": "number" },
  UsageDay: { "date*": "date", "minutes*": "number", "sipMinutes*": "number" },
  CallUsage: { "allTime*": "CallStatistics", "daily*": "DailyStatistics[]", "hourly*": "HourlyStatistics[]" },
  CallStatistics: FIGURES,
  DailyStatistics: { ...FIGURES, "date*": "date" },
  HourlyStatistics: { ...FIGURES, "date*": "date", "hour*": "integer" },
  ConcurrencyResponse: { "timeSeries*": "ConcurrencyPoint[]" },
  ConcurrencyPoint: {
    "timestamp*": "moment",
    "maxTotalCalls*": "integer",
    "maxJoinedCalls*": "integer",
    "avgTotalCalls*": "number",
    "avgJoinedCalls*": "number",
  },
  ApiKey: {
    "prefix*": "string",
    "created*": "moment",
    "creator*": "string|null",
    "name*": "string",
    "expiryDate*": "moment|null",
    // Ours.
    "scopes*": `${SCOPE}[]|null`,
    revoked: "boolean",
  },
  ApiKeyCreate: {
    "name*": "string",
    expiryDate: "moment|null",
    // Ours.
    "scopes*": `${SCOPE}[]|null`,
    "prefix*": "string",
    "created*": "moment",
    "creator*": "string|null",
    "secret*": "string",
    "revoked*": "boolean",
  },
  // The phrases are ours.
  ModelAlias: { "name*": "string", "examplePhrases*": "string[]|null" },
  // Ours.
  AuditEntry: {
    "entryId*": "uuid",
    "created*": "moment",
    "operation*": "string",
    "via*": "=api,command_line,start",
    "keyPrefix*": "string|null",
    "keyName*": "string|null",
    "targetId*": "string|null",
    "targetName*": "string|null",
    "clientAddress*": "string|null",
    "result*": "=done,refused",
    "code*": "string|null",
    "requestId*": "string|null",
  },
  Problem: {
    "type*": "url",
    "title*": "string",
    "status*": "integer",
    "detail*": "string",
    "code*": "string",
    errors: "FieldError[]",
    "requestId*": "string",
  },
  FieldError: { "field*": "string", "message*": "string" },
};
