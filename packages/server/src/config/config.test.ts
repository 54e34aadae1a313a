import { describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { defaultPublicUrl, loadConfig } from "./config.ts";
import { RENAMED_SETTINGS } from "./renamed-settings.ts";
import { iceServerLinks } from "./webrtc.ts";

const KEY_32_BYTES = Buffer.alloc(32, 7).toString("base64");

describe("loadConfig", () => {
  it("has a default for everything", () => {
    const config = loadConfig({});
    expect(config.port).toBe(8080);
    expect(config.publicUrl).toBe("http://127.0.0.1:8080");
    expect(config.databaseUrl).toBeNull();
    expect([config.llm, config.stt, config.tts]).toEqual([null, null, null]);
    expect(config.turnTaking.speculationDelayMs).toBe(192);
  });

  it("reads the audio turn model from SMART_TURN_MODEL, otherwise from DATA_DIR", () => {
    expect(loadConfig({ DATA_DIR: "/d" }).smartTurnModel).toEqual({
      path: "/d/models/smart-turn-v3.onnx",
      isNamed: false,
    });
    expect(loadConfig({ SMART_TURN_MODEL: "/m.onnx" }).smartTurnModel).toEqual({
      path: "/m.onnx",
      isNamed: true,
    });
  });

  it.each([
    [{}, "localhost"],
    [{ PUBLIC_URL: "https://voice.example" }, "voice.example"],
    [{ PUBLIC_URL: "http://[2001:db8::1]:8080" }, "localhost"],
    [{ PUBLIC_URL: "https://voice.example", SIP_HOST: "SIP.Example" }, "sip.example"],
  ])("takes the host of SIP domains from %o", (env, host) => {
    expect(loadConfig(env).sipHost).toBe(host);
  });

  it("meters in steps of six seconds by default", () => {
    expect(loadConfig({}).metering).toEqual({ unitMs: 6_000, enabled: true, consoleIsFree: true });
    const set = loadConfig({ BILLING_UNIT_MS: "60000", METERING: "false", CONSOLE_CALLS_FREE: "false" });
    expect(set.metering).toEqual({ unitMs: 60_000, enabled: false, consoleIsFree: false });
  });

  it("stores calls and their parts without a limit by default", () => {
    const { ageLimits } = loadConfig({});
    expect(ageLimits).toEqual({
      recordingsRetentionDays: null,
      transcriptsRetentionDays: null,
      callsRetentionDays: null,
    });
    const set = loadConfig({
      CALLS_RETENTION_DAYS: "90",
      TRANSCRIPTS_RETENTION_DAYS: "30",
      RECORDINGS_RETENTION_DAYS: "7",
    });
    expect(set.ageLimits).toEqual({
      recordingsRetentionDays: 7,
      transcriptsRetentionDays: 30,
      callsRetentionDays: 90,
    });
  });

  it("has an operator key only where one is set, by itself or in a file", () => {
    const { operatorKey, operatorKeyFile } = loadConfig({});
    expect([operatorKey, operatorKeyFile]).toEqual([null, null]);
    const key = "a-key-of-24-characters-or-more";
    expect(loadConfig({ OPERATOR_KEY: key }).operatorKey).toBe(key);
    expect(() => loadConfig({ OPERATOR_KEY: "short" })).toThrow(/^OPERATOR_KEY must be 24 to 200/);
    expect(() => loadConfig({ OPERATOR_KEY: key, OPERATOR_KEY_FILE: "/k" })).toThrow(/must not both be set/);
  });

  it("writes summaries by default", () => {
    expect([loadConfig({}).summaries, loadConfig({ SUMMARIES: "false" }).summaries]).toEqual([true, false]);
  });

  const bucket = {
    RECORDINGS_S3_BUCKET: "sounds",
    RECORDINGS_S3_ENDPOINT: "https://s3.example/",
    RECORDINGS_S3_REGION: "eu-1",
    RECORDINGS_S3_ACCESS_KEY_ID: "id",
    RECORDINGS_S3_SECRET_ACCESS_KEY: "secret",
  };

  it("stores recordings in a bucket when all its settings are set", () => {
    expect(loadConfig({}).recordingsBucket).toBeNull();
    const needed = {
      bucket: "sounds",
      endpoint: "https://s3.example",
      region: "eu-1",
      accessKeyId: "id",
      secretAccessKey: "secret",
    };
    expect(loadConfig(bucket).recordingsBucket).toEqual({
      ...needed,
      prefix: "",
      pathStyle: true,
      redirects: false,
    });
    const more = {
      RECORDINGS_S3_PREFIX: "parley/eu",
      RECORDINGS_S3_PATH_STYLE: "false",
      RECORDINGS_S3_REDIRECT: "true",
    };
    expect(loadConfig({ ...bucket, ...more }).recordingsBucket).toEqual({
      ...needed,
      prefix: "parley/eu/",
      pathStyle: false,
      redirects: true,
    });
    for (const name of Object.keys(bucket)) {
      const read = () => loadConfig({ ...bucket, [name]: "" });
      expect(read).toThrow(new RegExp(`^${name} is required together with RECORDINGS_S3_`));
    }
    expect(() => loadConfig({ RECORDINGS_S3_PREFIX: "x" })).toThrow(/^RECORDINGS_S3_BUCKET is required/);
    for (const RECORDINGS_S3_PREFIX of ["/x", "x/", "a//b", "a b", "a+b"]) {
      expect(() => loadConfig({ ...bucket, RECORDINGS_S3_PREFIX })).toThrow(
        /^RECORDINGS_S3_PREFIX must contain only/,
      );
    }
    expect(() => loadConfig({ ...bucket, RECORDINGS_S3_ENDPOINT: "https://s3.example/sounds" })).toThrow(
      /no path/,
    );
  });

  it("reads further names of voices and models", () => {
    expect(loadConfig({}).aliases).toEqual({ voices: [], models: [] });
    const env = { VOICE_ALIASES: " Mark = espeak-m1 ,*=default", MODEL_ALIASES: "ultravox/v2=small" };
    expect(loadConfig(env).aliases).toEqual({
      voices: [
        { name: "Mark", target: "espeak-m1" },
        { name: "*", target: "default" },
      ],
      models: [{ name: "ultravox/v2", target: "small" }],
    });
  });

  it("takes empty variables as unset", () => {
    expect(loadConfig({ PORT: "", HOST: "  " }).port).toBe(8080);
  });

  it("reads the address and ports of WebRTC media, and the servers that clients get", () => {
    expect(loadConfig({}).rtp).toEqual({ portRange: null });
    expect(loadConfig({ RTP_PORT_RANGE: "20000-20999" }).rtp).toEqual({ portRange: [20_000, 20_999] });
    expect(loadConfig({}).webRtc).toEqual({ iceServers: [], portRange: null, announcedAddress: null });
    const { webRtc } = loadConfig({
      ICE_SERVERS: '["stun:a.example", {"urls": ["turn:b.example"], "username": "u", "credential": "c"}]',
      WEBRTC_PORT_RANGE: "40000-40999",
      WEBRTC_ANNOUNCED_ADDRESS: "203.0.113.7",
    });
    expect(webRtc).toEqual({
      iceServers: [
        { urls: ["stun:a.example"], username: null, credential: null },
        { urls: ["turn:b.example"], username: "u", credential: "c" },
      ],
      portRange: [40_000, 40_999],
      announcedAddress: "203.0.113.7",
    });
    expect(iceServerLinks(webRtc.iceServers)).toEqual([
      '<stun:a.example>; rel="ice-server"',
      '<turn:b.example>; rel="ice-server"; username="u"; credential="c"; credential-type="password"',
    ]);
    expect(loadConfig({ ICE_SERVERS: "stun:a.example, stun:b.example" }).webRtc.iceServers).toHaveLength(2);
  });

  it.each([
    [{ ICE_SERVERS: "a.example" }, "ICE_SERVERS must be a list of stun: and turn: URLs"],
    [{ ICE_SERVERS: "[1" }, "ICE_SERVERS must be a list of stun: and turn: URLs"],
    [{ ICE_SERVERS: "[1]" }, "ICE_SERVERS must be a list of stun: and turn: URLs"],
    [{ ICE_SERVERS: "turn:a.example" }, "ICE_SERVERS must have a username and a credential"],
    [{ WEBRTC_PORT_RANGE: "40000" }, "WEBRTC_PORT_RANGE must be two UDP ports"],
    [{ WEBRTC_PORT_RANGE: "41000-40000" }, "WEBRTC_PORT_RANGE must be two UDP ports"],
    [{ WEBRTC_PORT_RANGE: "40000-40000" }, "WEBRTC_PORT_RANGE must be two UDP ports"],
    [{ WEBRTC_PORT_RANGE: "80-90" }, "WEBRTC_PORT_RANGE must be two UDP ports"],
    [{ RTP_PORT_RANGE: "40000" }, "RTP_PORT_RANGE must be two UDP ports"],
    [{ RTP_PORT_RANGE: "40001-40002" }, "RTP_PORT_RANGE must have an even port and the next one"],
    [{ WEBRTC_ANNOUNCED_ADDRESS: "0.0.0.0" }, "WEBRTC_ANNOUNCED_ADDRESS must be the IP address"],
    [{ WEBRTC_ANNOUNCED_ADDRESS: "a.example" }, "WEBRTC_ANNOUNCED_ADDRESS must be the IP address"],
    [{ PORT: "eighty" }, "PORT must be a whole number"],
    [{ PORT: "70000" }, "PORT must be at most 65535"],
    [{ PUBLIC_URL: "ftp://x" }, "PUBLIC_URL must be an http or https URL"],
    [{ DATABASE_URL: "mysql://x" }, "DATABASE_URL must be a postgres:// URL"],
    [{ DATABASE_URL: "postgres://x/y" }, "SECRETS_KEY is required together with DATABASE_URL"],
    [{ SIP_HOST: "sip:example" }, "SIP_HOST must be a host name"],
    [{ SIP_TLS_CERT_FILE: "a.pem" }, "SIP_TLS_KEY_FILE must be set together with SIP_TLS_CERT_FILE"],
    [
      { SIP_ANNOUNCED_ADDRESS: "2001:db8::1" },
      "SIP_ANNOUNCED_ADDRESS must be of the same family as SIP_BIND (0.0.0.0)",
    ],
    [{ SECRETS_KEY: "short" }, "SECRETS_KEY must be 32 bytes in base64"],
    [{ API_KEY: "secret" }, "API_KEY must be 8 letters"],
    [{ LLM_BASE_URL: "http://127.0.0.1:1/v1" }, "LLM_MODEL is required together with LLM_BASE_URL"],
    [{ STT_MODEL: "whisper" }, "STT_MODEL needs STT_BASE_URL"],
    [
      { ALLOW_PRIVATE_TARGETS: "yes" },
      "ALLOW_PRIVATE_TARGETS must be true, false, or a comma-separated list",
    ],
    [{ ALLOW_PRIVATE_TARGETS: "10.0.0.0/8,127.1" }, '"127.1" is not one'],
    [{ TRUSTED_PROXIES: "10.0.0.0/8, proxy" }, "TRUSTED_PROXIES must be a list of addresses and ranges"],
    [{ CALLS_PER_SECOND_PER_ACCOUNT: "0" }, "CALLS_PER_SECOND_PER_ACCOUNT must be at least 1"],
    [{ CALLS_PER_MINUTE_PER_ACCOUNT: "10001" }, "CALLS_PER_MINUTE_PER_ACCOUNT must be at most 10000"],
    [{ BILLING_UNIT_MS: "0" }, "BILLING_UNIT_MS must be at least 1"],
    [{ CALLS_RETENTION_DAYS: "0" }, "CALLS_RETENTION_DAYS must be at least 1"],
    [{ RECORDINGS_RETENTION_DAYS: "a week" }, "RECORDINGS_RETENTION_DAYS must be a whole number"],
    [{ METERING: "off" }, "METERING must be true or false"],
    [{ IGNORE_UNKNOWN_FIELDS: "yes" }, "IGNORE_UNKNOWN_FIELDS must be true or false"],
    [{ VOICE_ALIASES: "Mark" }, "VOICE_ALIASES must be a comma-separated list of pairs"],
    [{ VOICE_ALIASES: "Mark=a,=b" }, '"=b" is not one'],
    [{ VOICE_ALIASES: "Mark=a=b" }, '"Mark=a=b" is not one'],
    [{ VOICE_ALIASES: "Mark=a,Mark=b" }, "VOICE_ALIASES must name Mark once"],
    [
      { MODEL_ALIASES: `${"m".repeat(101)}=default` },
      "MODEL_ALIASES must have names of at most 100 characters",
    ],
    [
      { MODEL_ALIASES: Array.from({ length: 501 }, (_, at) => `m${String(at)}=a`).join(",") },
      "MODEL_ALIASES must have at most 500 pairs",
    ],
    [{ API_NAMES: "both" }, "API_NAMES must be neutral or vendor"],
    [{ LOG_LEVEL: "loud" }, "LOG_LEVEL must be one of"],
    [{ TURN_SPECULATION_DELAY_MS: "1" }, "TURN_SPECULATION_DELAY_MS must be at least 32"],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" },
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL",
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "secret" },
      "OTEL_EXPORTER_OTLP_HEADERS must be a list",
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "a=%zz" },
      "OTEL_EXPORTER_OTLP_HEADERS must contain percent-encoded",
    ],
    [{ MAX_LIVE_CALLS: "0" }, "MAX_LIVE_CALLS must be at least 1"],
    [{ RESERVED_LIVE_CALLS: "200" }, "RESERVED_LIVE_CALLS must be less than MAX_LIVE_CALLS"],
  ])("refuses %j with a sentence that names the variable", (env, sentence) => {
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(sentence);
  });

  it("names every wrong variable at once", () => {
    const env = {
      PORT: "eighty",
      LOG_LEVEL: "loud",
      LLM_BASE_URL: "http://127.0.0.1:1/v1",
      STT_BASE_URL: "ftp://x",
      STT_MODEL: "whisper",
      KEEP_EVENT_LOGS: "true",
    };
    expect(() => loadConfig(env)).toThrow(
      [
        "5 settings are wrong:",
        "KEEP_EVENT_LOGS is now called STORE_EVENT_LOGS. Rename it in the environment.",
        "PORT must be a whole number.",
        "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.",
        "STT_BASE_URL must be an http or https URL.",
        "LLM_MODEL is required together with LLM_BASE_URL: set it to the model to use there.",
      ].join("\n  "),
    );
  });

  it.each(Object.entries(RENAMED_SETTINGS))("refuses %s and names %s instead", (oldName, newName) => {
    const read = () => loadConfig({ [oldName]: "1" });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`${oldName} is now called ${newName}. Rename it in the environment.`);
    expect(loadConfig({ [oldName]: " " })).toEqual(loadConfig({}));
  });

  it("reserves a fifth of the live calls by default", () => {
    expect(loadConfig({}).reservedLiveCalls).toBe(40);
    expect(loadConfig({ MAX_LIVE_CALLS: "1" }).reservedLiveCalls).toBe(0);
    expect(loadConfig({ RESERVED_LIVE_CALLS: "0" }).reservedLiveCalls).toBe(0);
    expect(loadConfig({ MAX_LIVE_CALLS: "10", RESERVED_LIVE_CALLS: "9" }).reservedLiveCalls).toBe(9);
  });

  it("sends traces only when a collector is set", () => {
    expect(loadConfig({ OTEL_EXPORTER_OTLP_HEADERS: "a=b" }).traces).toBeNull();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc=, x-team = a",
    };
    expect(loadConfig(env).traces).toEqual({
      endpoint: "http://127.0.0.1:4318",
      headers: { authorization: "Basic abc=", "x-team": "a" },
    });
  });

  it("allows only public addresses as targets by default", () => {
    expect(loadConfig({}).allowPrivateTargets).toEqual([]);
    expect(loadConfig({ ALLOW_PRIVATE_TARGETS: "true" }).allowPrivateTargets).toBe(true);
    expect(loadConfig({ ALLOW_PRIVATE_TARGETS: "127.0.0.1, fd00::/8" }).allowPrivateTargets).toEqual([
      { network: "127.0.0.1", prefixLength: 32 },
      { network: "fd00::", prefixLength: 8 },
    ]);
  });

  it("sets all three engines from one key", () => {
    const config = loadConfig({ OPENAI_API_KEY: "k" });
    expect(config.llm?.apiKey).toBe("k");
    expect(config.stt?.baseUrl).toBe("https://api.openai.com/v1");
    expect(config.tts?.voice).toBe("alloy");
  });

  it("does not send the shared key to another server", () => {
    const config = loadConfig({
      OPENAI_API_KEY: "k",
      LLM_BASE_URL: "http://127.0.0.1:1/v1/",
      LLM_MODEL: "m",
    });
    expect(config.llm).toEqual({ baseUrl: "http://127.0.0.1:1/v1", apiKey: null, model: "m" });
  });

  it("sends the shared key to OpenAI, also with a trailing slash in the URL", () => {
    const config = loadConfig({
      OPENAI_API_KEY: "k",
      LLM_BASE_URL: "https://api.openai.com/v1/",
      LLM_MODEL: "m",
    });
    expect(config.llm?.apiKey).toBe("k");
  });

  it("takes PostgreSQL with a key for secrets", () => {
    const config = loadConfig({ DATABASE_URL: "postgres://u@h/d", SECRETS_KEY: KEY_32_BYTES });
    expect(config.databaseUrl).toBe("postgres://u@h/d");
  });
});

describe("defaultPublicUrl", () => {
  it.each([
    ["0.0.0.0", "http://127.0.0.1:8080"],
    ["::", "http://127.0.0.1:8080"],
    ["::1", "http://[::1]:8080"],
    ["example.org", "http://example.org:8080"],
  ])("prints %s as %s", (host, url) => {
    expect(defaultPublicUrl(host, 8080)).toBe(url);
  });
});
