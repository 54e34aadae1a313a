/** Scenarios of sipp for what its built-in ones do not have. */

const SDP = `v=0
o=user1 53655765 2353687637 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 6000 RTP/AVP 0
a=rtpmap:0 PCMU/8000`;

function scenario(...steps: readonly string[]): string {
  return `<?xml version="1.0" encoding="ISO-8859-1" ?>\n<scenario name="test">\n${steps.join("\n")}\n</scenario>\n`;
}

interface ClientRequest {
  readonly method: string;
  readonly cseq: number;
  /** Which branch: the one of this message, or that of so many messages before. */
  readonly branch?: string;
  readonly to?: "[peer_tag_param]" | "";
  readonly headers?: string;
  readonly body?: string;
  readonly attributes?: string;
}

function request(options: ClientRequest): string {
  const {
    method,
    cseq,
    branch = "[branch]",
    to = "[peer_tag_param]",
    headers = "",
    body,
    attributes = "",
  } = options;
  const typed = body === undefined ? "" : "Content-Type: application/sdp\n";
  return `<send ${attributes}><![CDATA[

${method} sip:agent_1@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=${branch}
From: "sipp" <sip:sipp@[local_ip]:[local_port]>;tag=[pid]s[call_number]
To: <sip:agent_1@[remote_ip]:[remote_port]>${to}
Call-ID: [call_id]
CSeq: ${String(cseq)} ${method}
Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>
Max-Forwards: 70
${headers}${typed}Content-Length: [len]

${body ?? ""}
]]></send>`;
}

const receive = (status: number, more = ""): string => `<recv response="${String(status)}" ${more}></recv>`;
const expect = (method: string, more = ""): string => `<recv request="${method}" ${more}></recv>`;
const invite = (options: Partial<ClientRequest> = {}): string =>
  request({ method: "INVITE", cseq: 1, to: "", body: SDP, attributes: 'retrans="500"', ...options });
const ack = (cseq: number): string => request({ method: "ACK", cseq });
const bye = (cseq: number): string => request({ method: "BYE", cseq, attributes: 'retrans="500"' });

/** With a header that must be there. */
function receiveWith(status: number, header: string, pattern: string): string {
  return `<recv response="${String(status)}"><action>
<ereg regexp="${pattern}" search_in="hdr" header="${header}" check_it="true" assign_to="1"/>
</action></recv><Reference variables="1"/>`;
}

/** The ACK is left out until the 200 has come three times. For sipp without retransmissions of its own (`-nr`). */
export const LOST_ACK = scenario(
  invite({ attributes: "" }),
  receive(100, 'optional="true"'),
  receive(200),
  receive(200),
  receive(200),
  ack(1),
  bye(2),
  receive(200),
);

/** The INVITE comes again after its answer, with the same branch: neither a second call nor a refusal. */
export const REPEATED_INVITE = scenario(
  invite({ attributes: "", branch: "z9hG4bK-same-[call_number]" }),
  receive(100),
  receive(200),
  invite({ attributes: "", branch: "z9hG4bK-same-[call_number]" }),
  ack(1),
  bye(2),
  receive(200),
);

export const CANCELED = scenario(
  invite({ branch: "z9hG4bK-cancel-[call_number]" }),
  receive(100, 'optional="true"'),
  receive(180),
  request({
    method: "CANCEL",
    cseq: 1,
    to: "",
    branch: "z9hG4bK-cancel-[call_number]",
    attributes: 'retrans="500"',
  }),
  receive(200),
  receive(487),
  request({ method: "ACK", cseq: 1, branch: "z9hG4bK-cancel-[call_number]" }),
);

const HELD = `${SDP}\na=sendonly`;
export const HOLD = scenario(
  invite(),
  receive(100, 'optional="true"'),
  receive(200),
  ack(1),
  invite({ cseq: 2, to: "[peer_tag_param]", body: HELD }),
  receive(100, 'optional="true"'),
  receive(200),
  ack(2),
  invite({ cseq: 3, to: "[peer_tag_param]" }),
  receive(100, 'optional="true"'),
  receive(200),
  ack(3),
  bye(4),
  receive(200),
);

/** First an interval that is too short, then one that is taken. */
export const REFRESHED = scenario(
  invite({
    headers: "Supported: timer\nSession-Expires: 60\nMin-SE: 60\n",
    branch: "z9hG4bK-short-[call_number]",
  }),
  receiveWith(422, "Min-SE:", "90"),
  request({ method: "ACK", cseq: 1, branch: "z9hG4bK-short-[call_number]" }),
  invite({ cseq: 2, headers: "Supported: timer\nSession-Expires: 1800;refresher=uac\n" }),
  receive(100, 'optional="true"'),
  receiveWith(200, "Session-Expires:", "1800;refresher=uac"),
  ack(2),
  bye(3),
  receive(200),
);

/** Each request that is not in order, with the answer that it gets. */
export const REFUSED_REQUESTS = scenario(
  request({ method: "OPTIONS", cseq: 1, to: "" }),
  receiveWith(200, "Allow:", "INVITE"),
  request({ method: "BYE", cseq: 2, to: "" }),
  receive(481),
  request({ method: "REGISTER", cseq: 3, to: "" }),
  receive(405),
  request({ method: "DANCE", cseq: 4, to: "" }),
  receive(501),
  request({ method: "OPTIONS", cseq: 5, to: "", headers: "Require: dance\n" }),
  receiveWith(420, "Unsupported:", "dance"),
  request({ method: "CANCEL", cseq: 6, to: "" }),
  receive(481),
);

// --- sipp answers

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly headers?: string;
  readonly hasSdp?: boolean;
  readonly attributes?: string;
}

function answer({ status, reason, headers = "", hasSdp = false, attributes = "" }: Answer): string {
  return `<send ${attributes}><![CDATA[

SIP/2.0 ${String(status)} ${reason}
[last_Via:]
[last_From:]
[last_To:];tag=[pid]t[call_number]
[last_Call-ID:]
[last_CSeq:]
Contact: <sip:[local_ip]:[local_port];transport=[transport]>
${headers}${hasSdp ? "Content-Type: application/sdp\n" : ""}Content-Length: [len]

${hasSdp ? SDP : ""}
]]></send>`;
}

/** Within the call, where To has its tag. */
function answerInCall({ status, reason, headers = "", hasSdp = false }: Answer): string {
  return answer({ status, reason, headers, hasSdp }).replace(/(\[last_To:\]);tag=\S+/, "$1");
}

const OK = { status: 200, reason: "OK" };

export const refusing = (status: number, reason: string): string =>
  scenario(expect("INVITE"), answer({ status, reason, attributes: 'retrans="500"' }), expect("ACK"));

/** The first two INVITEs are taken for lost. For `-nr`. */
export const LOST_INVITES = scenario(
  expect("INVITE"),
  expect("INVITE"),
  expect("INVITE"),
  answer({ ...OK, hasSdp: true }),
  expect("ACK"),
  expect("BYE"),
  answerInCall(OK),
);

/** The first 200 is lost on the way, and comes again after half a second. */
export const LOST_ANSWER = scenario(
  expect("INVITE"),
  answer({ status: 180, reason: "Ringing" }),
  answer({ ...OK, hasSdp: true, attributes: 'lost="100"' }),
  '<pause milliseconds="500"/>',
  answer({ ...OK, hasSdp: true, attributes: 'retrans="500"' }),
  expect("ACK"),
  expect("BYE"),
  answerInCall(OK),
);

export const RINGING_UNTIL_CANCEL = scenario(
  expect("INVITE"),
  answer({ status: 180, reason: "Ringing" }),
  expect("CANCEL"),
  answerInCall(OK),
  `<send retrans="500"><![CDATA[

SIP/2.0 487 Request Terminated
[last_Via:]
[last_From:]
[last_To:];tag=[pid]t[call_number]
[last_Call-ID:]
CSeq: 1 INVITE
Content-Length: 0

]]></send>`,
  expect("ACK"),
);

export const HELD_BY_US = scenario(
  expect("INVITE"),
  answer({ ...OK, hasSdp: true, attributes: 'retrans="500"' }),
  expect("ACK"),
  expect("INVITE"),
  answerInCall({ ...OK, hasSdp: true }),
  expect("ACK"),
  expect("BYE"),
  answerInCall(OK),
);
