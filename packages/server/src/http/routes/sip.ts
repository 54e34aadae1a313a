import {
  ApiError,
  type FieldError,
  type SipConfigPatch,
  type sipRoutes,
  validationError,
} from "@parley/schema";
import { UnknownAgentsError } from "../../store/agents/agent-references.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { isSipEnabled } from "../../store/telephony/sip-accounts.ts";
import { changeSipConfig, readSipConfig, type SipConfigRow } from "../../store/telephony/sip-configs.ts";
import { changeSipRules, readSipRules } from "../../store/telephony/sip-rules.ts";
import {
  createSipRegistration,
  deleteSipRegistration,
  getSipRegistration,
  listSipRegistrations,
  updateSipRegistration,
} from "../../store/telephony/sip-registrations.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { sipConfigResource, sipRegistrationResource } from "../resources/carrier-resources.ts";
import { notFound } from "./shared.ts";

const getSipConfigRoute: Handler<"getSipConfig"> = async ({ accountId }, { http }) => {
  const config = await readSipConfig(http.store.db, accountId);
  return { status: 200, json: await configAnswer(http, accountId, config) };
};

async function configAnswer(
  { settings, store }: HandlerDeps["http"],
  accountId: string,
  config: SipConfigRow,
): Promise<Resource> {
  const enabled = settings.servesSip && (await isSipEnabled(store.db, accountId));
  return sipConfigResource(config, { accountId, sipHost: settings.sipHost, enabled });
}

const updateSipConfigRoute: Handler<"updateSipConfig"> = async ({ accountId, body, change }, deps) => {
  refuseHandler(body.fallbackHandler, deps);
  const { http } = deps;
  const changes = {
    allowedCidrRanges: body.allowedCidrRanges === null ? [] : body.allowedCidrRanges,
    allowAllAgents: body.allowAllAgents === null ? false : body.allowAllAgents,
    allowedAgents: body.allowedAgents === null ? [] : body.allowedAgents,
    fallbackHandler: body.fallbackHandler,
  };
  try {
    const config = await change((tx) => changeSipConfig(tx, accountId, changes));
    return { status: 200, json: await configAnswer(http, accountId, config) };
  } catch (error) {
    if (!(error instanceof UnknownAgentsError)) throw error;
    throw validationError(unknownAgents(body, error.agentIds));
  }
};

const getSipRulesRoute: Handler<"getSipRules"> = async ({ accountId }, { http }) => ({
  status: 200,
  json: await readSipRules(http.store.db, accountId),
});

const updateSipRulesRoute: Handler<"updateSipRules"> = async ({ accountId, body, change }) => ({
  status: 200,
  json: await change((tx) => changeSipRules(tx, accountId, body)),
});

const listSipRegistrationsRoute: Handler<"listSipRegistrations"> = async ({ accountId, list }, { http }) => {
  const page = await pageAnswer(
    list,
    (wanted) => listSipRegistrations(http.store.db, accountId, wanted),
    sipRegistrationResource,
  );
  return { status: 200, json: page };
};

const createSipRegistrationRoute: Handler<"createSipRegistration"> = async (
  { accountId, body, change },
  deps,
) => {
  const { outboundProxy = null, authUser = null } = body;
  const registration = { ...body, outboundProxy, authUser };
  const row = await change((tx) => createSipRegistration(tx, accountId, registration), {
    idOf: ({ registrationId }) => registrationId,
  });
  const headers = { location: `${deps.publicUrl()}/api/sip/registrations/${row.registrationId}` };
  return { status: 201, json: sipRegistrationResource(row), headers };
};

const getSipRegistrationRoute: Handler<"getSipRegistration"> = async ({ accountId, params }, { http }) => {
  const row = await getSipRegistration(http.store.db, accountId, params.registration_id);
  if (row === null) throw notFound("registration");
  return { status: 200, json: sipRegistrationResource(row) };
};

const updateSipRegistrationRoute: Handler<"updateSipRegistration"> = async (input) => {
  const { accountId, params, body } = input;
  const { username, password, proxy, outboundProxy, authUser } = body;
  const changes = {
    ...(typeof username === "string" ? { username } : {}),
    ...(typeof password === "string" ? { password } : {}),
    ...(typeof proxy === "string" ? { proxy } : {}),
    ...(outboundProxy === undefined ? {} : { outboundProxy }),
    ...(authUser === undefined ? {} : { authUser }),
  };
  const row = await input.change((tx) =>
    updateSipRegistration(tx, accountId, params.registration_id, changes),
  );
  if (row === null) throw notFound("registration");
  return { status: 200, json: sipRegistrationResource(row) };
};

const deleteSipRegistrationRoute: Handler<"deleteSipRegistration"> = async ({
  accountId,
  params,
  change,
}) => {
  const deleted = await change((tx) => deleteSipRegistration(tx, accountId, params.registration_id));
  if (!deleted) throw notFound("registration");
  return { status: 204 };
};

const checkSipRoute: Handler<"checkSip"> = async ({ accountId, body }, deps) => {
  const { to = null } = body;
  return {
    status: 200,
    json: await checked(deps, accountId, () => deps.http.sipChecks.check(accountId, to)),
  };
};

const checkSipRegistrationRoute: Handler<"checkSipRegistration"> = async ({ accountId, params }, deps) => {
  const found = await checked(deps, accountId, () =>
    deps.http.sipChecks.checkRegistration(accountId, params.registration_id),
  );
  if (found === null) throw notFound("registration");
  return { status: 200, json: found };
};

async function checked<Found>(
  { sipChecks }: Pick<HandlerDeps, "sipChecks">,
  accountId: string,
  check: () => Promise<Found>,
): Promise<Found> {
  const running = sipChecks.run(accountId, check);
  if (running === null) {
    throw new ApiError("rate_limited", "Two SIP checks of this account are running; try again shortly.");
  }
  return running;
}

export const sipHandlers: HandlersOf<typeof sipRoutes> = {
  getSipConfig: getSipConfigRoute,
  updateSipConfig: updateSipConfigRoute,
  getSipRules: getSipRulesRoute,
  updateSipRules: updateSipRulesRoute,
  checkSip: checkSipRoute,
  listSipRegistrations: listSipRegistrationsRoute,
  createSipRegistration: createSipRegistrationRoute,
  getSipRegistration: getSipRegistrationRoute,
  updateSipRegistration: updateSipRegistrationRoute,
  deleteSipRegistration: deleteSipRegistrationRoute,
  checkSipRegistration: checkSipRegistrationRoute,
};

/** A literal address is refused when stored; a name is resolved when it is used. */
function refuseHandler(handler: SipConfigPatch["fallbackHandler"], { http }: HandlerDeps): void {
  const reason = handler === undefined || handler === null ? null : http.refusedTarget(handler.url);
  if (reason === null) return;
  throw validationError([{ field: "fallbackHandler.url", message: `is not allowed: ${reason}` }]);
}

function unknownAgents({ allowedAgents }: SipConfigPatch, unknown: readonly string[]): FieldError[] {
  return (allowedAgents ?? []).flatMap(({ agentId }, index) =>
    unknown.includes(agentId)
      ? [{ field: `allowedAgents.${index}.agentId`, message: "is not an agent of this account" }]
      : [],
  );
}
