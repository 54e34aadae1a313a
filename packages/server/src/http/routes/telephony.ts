import {
  ALL_OR_SOME,
  ApiError,
  CARRIER_FIELDS,
  CONFIGURED_CARRIERS,
  type ConfiguredCarrier,
  type FieldError,
  type telephonyRoutes,
  toVendorName,
  validationError,
} from "@parley/schema";
import { UnknownAgentsError } from "../../store/agents/agent-references.ts";
import {
  changeTelephonyConfigs,
  readTelephonyConfigs,
  type TelephonyConfig,
  type TelephonyConfigs,
} from "../../store/telephony/telephony-configs.ts";
import type { CalledParty } from "../../telephony/api.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlersOf } from "../api/endpoint.ts";
import { telephonyResource } from "../resources/carrier-resources.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { carrierAnswer, signedBy } from "../telephony/carrier-answers.ts";
import { notFound } from "./shared.ts";

type Fields = Readonly<Record<string, unknown>>;
type Decided = Partial<Record<ConfiguredCarrier, TelephonyConfig | null>>;

const NOT_CONFIGURED = "configuration of this carrier";

const getTelephonyConfigRoute: Handler<"getTelephonyConfig"> = async ({ accountId, params }, { http }) => {
  const config = (await readTelephonyConfigs(http.store.db, accountId))[params.carrier];
  if (config === undefined) throw notFound(NOT_CONFIGURED);
  return { status: 200, json: telephonyResource(params.carrier, config) };
};

const createTelephonyConfigRoute: Handler<"createTelephonyConfig"> = async (input, deps) => {
  const { params, body } = input;
  const { carrier } = params;
  const configs = await applied(input, { [carrier]: body }, "", (present) => {
    if (present[carrier] === undefined) return;
    throw new ApiError("conflict", "This carrier is configured already; change it with PATCH.");
  });
  const name = deps.http.settings.apiNames === "vendor" ? toVendorName(carrier) : carrier;
  const headers = { location: `${deps.publicUrl()}/api/telephony_configs/${name}` };
  return { status: 201, json: configs[carrier], headers };
};

const updateTelephonyConfigRoute: Handler<"updateTelephonyConfig"> = async (input) => {
  const { params, body } = input;
  const { carrier } = params;
  const configs = await applied(input, { [carrier]: body }, "", (present) => {
    if (present[carrier] === undefined) throw notFound(NOT_CONFIGURED);
  });
  return { status: 200, json: configs[carrier] };
};

const deleteTelephonyConfigRoute: Handler<"deleteTelephonyConfig"> = async (input) => {
  const { params } = input;
  await applied(input, { [params.carrier]: null }, "", (present) => {
    if (present[params.carrier] === undefined) throw notFound(NOT_CONFIGURED);
  });
  return { status: 204 };
};

const getAccountTelephonyConfigRoute: Handler<"getAccountTelephonyConfig"> = async (input, { http }) => {
  return { status: 200, json: resources(await readTelephonyConfigs(http.store.db, input.accountId)) };
};

const updateAccountTelephonyConfigRoute: Handler<"updateAccountTelephonyConfig"> = async (input) => {
  return { status: 200, json: await applied(input, input.body, "carrier", () => undefined) };
};

const checkTelephonyConfigRoute: Handler<"checkTelephonyConfig"> = async (
  { accountId, params },
  { http },
) => {
  const findings = await http.carriers.check(accountId, params.carrier);
  if (findings === null) throw notFound(NOT_CONFIGURED);
  const errors = findings.filter(({ severity }) => severity === "error");
  const warnings = findings.filter(({ severity }) => severity === "warning");
  return { status: 200, json: { ok: errors.length === 0, findings: [...errors, ...warnings] } };
};

const answerCarrierRoute: Handler<"answerCarrier"> = async ({ params, ...request }, deps) =>
  answered(deps, request, params.agent_id, { agentId: params.agent_id });

const answerCarrierNumberRoute: Handler<"answerCarrierNumber"> = async ({ params, ...request }, deps) =>
  answered(deps, request, params.account_id, { accountId: params.account_id });

async function answered(
  deps: HandlerDeps,
  { received, clientAddress }: Pick<HandlerInput<"answerCarrier">, "received" | "clientAddress">,
  targetId: string,
  called: CalledParty,
) {
  const answer = () => deps.http.carriers.answerCall(called, signedBy(received, deps));
  return carrierAnswer(await deps.checkSigned(clientAddress, targetId, answer, true));
}

export const telephonyHandlers: HandlersOf<typeof telephonyRoutes> = {
  getTelephonyConfig: getTelephonyConfigRoute,
  createTelephonyConfig: createTelephonyConfigRoute,
  updateTelephonyConfig: updateTelephonyConfigRoute,
  deleteTelephonyConfig: deleteTelephonyConfigRoute,
  getAccountTelephonyConfig: getAccountTelephonyConfigRoute,
  updateAccountTelephonyConfig: updateAccountTelephonyConfigRoute,
  checkTelephonyConfig: checkTelephonyConfigRoute,
  answerCarrier: answerCarrierRoute,
  answerCarrierNumber: answerCarrierNumberRoute,
};

function resources(configs: TelephonyConfigs): Partial<Record<ConfiguredCarrier, Resource>> {
  return Object.fromEntries(
    CONFIGURED_CARRIERS.flatMap((carrier) => {
      const config = configs[carrier];
      return config === undefined ? [] : [[carrier, telephonyResource(carrier, config)]];
    }),
  );
}

/**
 * Applies bodies by carrier; null removes one. `place`: whether fields are reported under the name of their carrier.
 * `check` refuses what the present configurations do not allow.
 */
async function applied(
  { accountId, change }: Pick<HandlerInput<"updateTelephonyConfig">, "accountId" | "change">,
  given: Readonly<Partial<Record<ConfiguredCarrier, Fields | null | undefined>>>,
  place: "carrier" | "",
  check: (present: TelephonyConfigs) => void,
): Promise<Partial<Record<ConfiguredCarrier, Resource>>> {
  const decide = (present: TelephonyConfigs): Decided => {
    check(present);
    const errors: FieldError[] = [];
    const decided: Decided = {};
    for (const carrier of CONFIGURED_CARRIERS) {
      const body = given[carrier];
      if (body === undefined) continue;
      const prefix = place === "carrier" ? `${carrier}.` : "";
      decided[carrier] = body === null ? null : merged(carrier, present[carrier], body, { prefix, errors });
    }
    if (errors.length > 0) throw validationError(errors);
    return decided;
  };
  try {
    return resources(await change((tx) => changeTelephonyConfigs(tx, accountId, decide)));
  } catch (error) {
    if (!(error instanceof UnknownAgentsError)) throw error;
    throw validationError(unknownAgents(given, place, error.agentIds));
  }
}

/** The stored configuration with the given fields over it. Missing and contradicting fields are reported. */
function merged(
  carrier: ConfiguredCarrier,
  present: TelephonyConfig | undefined,
  given: Fields,
  report: { readonly prefix: string; readonly errors: FieldError[] },
): TelephonyConfig {
  const pick = (names: readonly string[], stored: Fields = {}): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = given[name] ?? stored[name];
        if (typeof value === "string") return [[name, value]];
        report.errors.push({ field: `${report.prefix}${name}`, message: "is required" });
        return [];
      }),
    );
  const chosen = <Value>(name: string, stored: Value | undefined, byDefault: Value): Value =>
    given[name] === undefined ? (stored ?? byDefault) : ((given[name] as Value | null) ?? byDefault);
  const config: TelephonyConfig = {
    settings: pick(CARRIER_FIELDS[carrier].shown, present?.settings),
    secrets: pick(CARRIER_FIELDS[carrier].secret, present?.secrets),
    allowedAgentIds: chosen("callCreationAllowedAgentIds", present?.allowedAgentIds, []),
    allowAllAgents: chosen("callCreationAllowAllAgents", present?.allowAllAgents, false),
    requestContextMapping: chosen("requestContextMapping", present?.requestContextMapping, {}),
  };
  if (config.allowAllAgents && config.allowedAgentIds.length > 0) {
    report.errors.push({ field: `${report.prefix}callCreationAllowAllAgents`, message: ALL_OR_SOME });
  }
  return config;
}

function unknownAgents(
  given: Readonly<Record<string, Fields | null | undefined>>,
  place: "carrier" | "",
  unknown: readonly string[],
): FieldError[] {
  return Object.entries(given).flatMap(([carrier, body]) => {
    const ids = (body?.["callCreationAllowedAgentIds"] ?? []) as readonly string[];
    const prefix = place === "carrier" ? `${carrier}.` : "";
    return ids.flatMap((id, index) =>
      unknown.includes(id)
        ? [
            {
              field: `${prefix}callCreationAllowedAgentIds.${index}`,
              message: "is not an agent of this account",
            },
          ]
        : [],
    );
  });
}
