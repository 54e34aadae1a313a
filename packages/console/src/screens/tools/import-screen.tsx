/** Imports tools from an OpenAPI document, one per operation. */

import { useState } from "react";
import { Link } from "react-router";
import { useSignedIn, useStale } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { Card, Page, PageHeader } from "../../ui/display.tsx";
import { FileField } from "../../ui/file-field.tsx";
import { Form, Note } from "../../ui/form.tsx";
import { TextAreaField } from "../../ui/text-field.tsx";

/** Like `MAX_OPENAPI_BYTES` of the schema. */
const MAX_BYTES = 10 * 1024 * 1024;
const CREATED_TOOLS_HEADERS = ["X-Service-Created-Tools", "X-Ultravox-Created-Tools"];

export function ImportScreen() {
  const { send } = useSignedIn();
  const makeStale = useStale();
  const [file, setFile] = useState<File | null>(null);
  const [pasted, setPasted] = useState("");
  const [made, setMade] = useState<readonly string[]>([]);
  const run = async () => {
    setMade([]);
    const form = new FormData();
    form.append("file", file ?? new Blob([pasted]), file?.name ?? "openapi.yaml");
    const response = await send("POST", "/api/tools", { body: form });
    if (!response.ok) throw await refusalOf(response);
    const ids = CREATED_TOOLS_HEADERS.map((name) => response.headers.get(name)).find((each) => each !== null);
    await makeStale("/api/tools");
    setMade((ids ?? "").split(",").filter((id) => id !== ""));
  };
  const check = () => {
    if (file === null && pasted.trim() === "") return [{ field: "file", message: "is required" }];
    if (file !== null && file.size > MAX_BYTES) return [{ field: "file", message: "must be at most 10 MiB" }];
    return [];
  };
  return (
    <Page>
      <PageHeader
        title="Import tools"
        back={{ to: "/tools", label: "Tools" }}
        lead="Creates a tool for each operation of an OpenAPI 3.0 or 3.1 document (JSON or YAML). If an operation cannot be imported, no tool is created."
      />
      <Card>
        <Form label="Import" action="Import tools" onSave={run} check={check}>
          <FileField
            label="Document"
            path="file"
            accept=".json,.yaml,.yml,application/json,application/yaml"
            file={file}
            onChange={setFile}
          />
          <TextAreaField
            label="Or paste the document"
            aside="optional"
            hint="Used if no file is chosen."
            mono
            rows={10}
            spellCheck={false}
            disabled={file !== null}
            value={pasted}
            onChange={setPasted}
          />
        </Form>
      </Card>
      {made.length > 0 && <Made ids={made} />}
    </Page>
  );
}

function Made({ ids }: { readonly ids: readonly string[] }) {
  return (
    <Card title={ids.length === 1 ? "1 tool created" : `${ids.length.toLocaleString()} tools created`}>
      <Note>Check the descriptions. The model uses them to choose a tool.</Note>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <Link to={`/tools/${id}`}>{id}</Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
