import { type FieldError, type SipConfigPatch, type sipRoutes, validationError } from "@parley/schema";
import { UnknownAgentsError } from "../../store/agents/agent-references.ts";
import { changeSipConfig, readSipConfig } from "../../store/telephony/sip-configs.ts";
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
  return { status: 200, json: sipConfigResource(config, accountId, http.settings.sipHost) };
};

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
    return { status: 200, json: sipConfigResource(config, accountId, http.settings.sipHost) };
  } catch (error) {
    if (!(error instanceof UnknownAgentsError)) throw error;
    throw validationError(unknownAgents(body, error.agentIds));
  }
};

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

export const sipHandlers: HandlersOf<typeof sipRoutes> = {
  getSipConfig: getSipConfigRoute,
  updateSipConfig: updateSipConfigRoute,
  listSipRegistrations: listSipRegistrationsRoute,
  createSipRegistration: createSipRegistrationRoute,
  getSipRegistration: getSipRegistrationRoute,
  updateSipRegistration: updateSipRegistrationRoute,
  deleteSipRegistration: deleteSipRegistrationRoute,
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
