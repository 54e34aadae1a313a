import { describe, expect, it } from "vitest";
import * as schema from "./index.ts";

/** The names that other packages import. Removing one breaks them. */
const PROMISED = `
  Agent AgentBasic AgentPatch AgentWrite ApiError ApiKey ApiKeyCreate ApiKeyCreated BaseToolDefinition BillingStatus
  Call CallEvent Callbacks CallMedium CallStage CallTemplate CallTool ClientDataMessage DataConnectionConfig Duration
  EnabledDataMessages EndReason ERROR_CODES ExternalVoice FieldError FirstSpeaker FirstSpeakerSettings InitialMessage
  Message MessageMedium MessageRole ModelAlias Problem ROUTE_NAMES SelectedTool ServerDataMessage Severity
  StartAgentCallRequest StartCallRequest TimedMessage Timespan Timestamp ToolOverrides Uuid VadSettings VAD_DEFAULTS
  VoiceOverrides atMostOneOf boundedDuration firstSpeakerOf formatDurationMs mapSecrets maskSecret mediumKindOf
  normalizeDuration normalizeInput oneOf openApiDocument pageOf parseBody parseClientDataMessage parseDurationMs
  parsePathParams parseQuery problemOf readClientDataMessage renderAnswer routeOf routes setKeys statusOfCode
  titleOfCode toNeutralName toVendorName toVendorNames validationError withAtMostOne withExactlyOne
  DEFAULT_CLIENT_BUFFER_MS DEFAULT_JOIN_TIMEOUT DEFAULT_MAX_DURATION DEFAULT_PAGE_SIZE MAX_DATA_MESSAGE_BYTES
  MAX_PAGE_SIZE AUDIO_PROTOCOL JOIN_PATH WEB_RTC_CONNECTION_PATH WEB_RTC_JOIN_PATH WEBSOCKET_MEDIA DATA_MESSAGE_FLAGS
`;

describe("the package", () => {
  it("exports what it promises", () => {
    const missing = PROMISED.trim()
      .split(/\s+/)
      .filter((name) => !Object.hasOwn(schema, name));
    expect(missing).toEqual([]);
  });
});
