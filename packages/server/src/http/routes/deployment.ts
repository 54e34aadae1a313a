import { ApiError, type engineRoutes, validationError } from "@parley/schema";
import type { Db } from "../../store/database/db.ts";
import { lockEngineSettings, storeEngineSettings } from "../../store/deployment/engine-settings.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import type { PresentedOperatorKey } from "../api/operator.ts";
import type { Resource } from "../../lifecycle/resource.ts";

const getEnginesRoute: Handler<"getEngines"> = async ({ operator }, deps) => {
  const isOperator = await deps.operator.maySee(operator, deps.http.store.db);
  // Another process may have changed them.
  await deps.http.engines.reload();
  return { status: 200, json: enginesResource(deps, isOperator) };
};

const updateEnginesRoute: Handler<"updateEngines"> = async ({ operator, body, change }, deps) => {
  deps.operator.require(operator);
  const { engines } = deps.http;
  const named = Object.keys(body);
  const store = async (tx: Db): Promise<void> => {
    const checked = engines.changesOf(await lockEngineSettings(tx), body);
    if (checked.kind === "refused") throw validationError(checked.errors);
    await storeEngineSettings(tx, checked.changes);
  };
  await change(store, { idOf: () => named.join(","), isDone: () => named.length > 0 });
  await engines.reload();
  await engines.look();
  return { status: 200, json: enginesResource(deps, true) };
};

const testEngineRoute: Handler<"testEngine"> = async ({ operator, body }, deps) => {
  await requireSight(operator, deps);
  return { status: 200, json: await deps.http.engines.test(body.engine) };
};

const listLocalServersRoute: Handler<"listLocalServers"> = async ({ operator }, deps) => {
  await requireSight(operator, deps);
  return { status: 200, json: await deps.http.engines.findLocalServers() };
};

function enginesResource({ http: { engines } }: HandlerDeps, isOperator: boolean): Resource {
  return { canChange: engines.operatorKey !== null, isOperator, ...engines.show(isOperator) };
}

/** For other accounts there is nothing to see. */
async function requireSight(presented: PresentedOperatorKey, deps: HandlerDeps): Promise<void> {
  if (await deps.operator.maySee(presented, deps.http.store.db)) return;
  const who = "the first account of the deployment, and with the operator key";
  throw new ApiError("not_found", `This exists only for keys of ${who}.`);
}

export const deploymentHandlers: HandlersOf<typeof engineRoutes> = {
  getEngines: getEnginesRoute,
  updateEngines: updateEnginesRoute,
  testEngine: testEngineRoute,
  listLocalServers: listLocalServersRoute,
};
