import type { Handler } from "../endpoint.ts";
import { pageAnswer, pageOfList } from "../paging.ts";

export const listModelsRoute: Handler<"listModels"> = async ({ list }, { http }) => {
  const names = http.modelNames();
  const page = await pageAnswer(
    list,
    async (wanted) => pageOfList(names, (name) => name, wanted),
    (name) => ({ name }),
  );
  return { status: 200, json: page };
};
