/** All tools of the account, and public tools. */

import type { Tool } from "@parley/schema";
import { Copy, FlaskConical, Plus, Trash2, Upload, Wrench } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { usePages } from "../../data/pages.ts";
import { ButtonLink, IconButton } from "../../ui/button.tsx";
import { ScopedLink, ScopedMenuItem } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader, SearchField, Toolbar } from "../../ui/display.tsx";
import { Select } from "../../ui/field.tsx";
import { Menu, MenuSeparator } from "../../ui/menu.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { MoreHorizontal } from "lucide-react";
import { useSearchText } from "../search-text.ts";
import { DeleteTool } from "./delete-tool.tsx";
import { KIND_NAMES, kindOf } from "./tool-draft.ts";
import styles from "./tools.module.css";

const OWNERSHIPS = [
  { value: "", label: "All" },
  { value: "private", label: "Yours" },
  { value: "public", label: "Public" },
] as const;

const ORDERS = [
  { value: "default", label: "Yours first" },
  { value: "alphabetic", label: "Name, A to Z" },
  { value: "reverseAlphabetic", label: "Name, Z to A" },
  { value: "chronologic", label: "Oldest first" },
  { value: "reverseChronologic", label: "Newest first" },
] as const;

const COLUMNS: readonly Column<Tool>[] = [
  {
    id: "name",
    label: "Name",
    cell: ({ toolId, name, definition }) => (
      <div className={styles.name}>
        <Link to={`/tools/${toolId}`}>{name}</Link>
        {definition.description !== undefined && (
          <span className={styles.description}>{definition.description}</span>
        )}
      </div>
    ),
  },
  {
    id: "kind",
    label: "Type",
    cell: ({ definition, ownership }) => (
      <Badge tone={ownership === "public" ? "plain" : "agent"}>
        {ownership === "public" ? "Built-in" : KIND_NAMES[kindOf(definition)]}
      </Badge>
    ),
  },
  {
    id: "created",
    label: "Created",
    cell: ({ created, ownership }) => (ownership === "public" ? "–" : <When at={created} />),
  },
  { id: "actions", label: "Actions", actions: true, cell: (tool) => <Actions tool={tool} /> },
];

export function ToolsScreen() {
  const [ownership, setOwnership] = useState<(typeof OWNERSHIPS)[number]["value"]>("");
  const [sortOrder, setSortOrder] = useState<(typeof ORDERS)[number]["value"]>("default");
  const search = useSearchText();
  const pages = usePages("/api/tools", {
    query: {
      sortOrder,
      ...(ownership === "" ? {} : { ownership }),
      ...(search.wanted === "" ? {} : { search: search.wanted }),
    },
  });
  return (
    <Page>
      <PageHeader
        title="Tools"
        lead="Tools let agents use your systems and control the call."
        actions={
          <>
            <ButtonLink to="/tools/import">
              <Upload aria-hidden="true" /> Import OpenAPI
            </ButtonLink>
            <ScopedLink needs="admin" to="/tools/new" kind="primary">
              <Plus aria-hidden="true" /> New tool
            </ScopedLink>
          </>
        }
      />
      <Toolbar>
        <SearchField label="Search tools" value={search.text} onChange={search.setText} />
        <Select
          aria-label="Owner"
          className={styles.filter ?? ""}
          value={ownership}
          choices={OWNERSHIPS}
          onChange={setOwnership}
        />
        <Select
          aria-label="Order"
          className={styles.filter ?? ""}
          value={sortOrder}
          choices={ORDERS}
          onChange={setSortOrder}
        />
      </Toolbar>
      <PagedTable
        label="Tools"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ toolId }) => toolId}
        empty={
          <Empty icon={<Wrench aria-hidden="true" />} title="No matching tools">
            Change the search or the filter, or create a new tool.
          </Empty>
        }
      />
    </Page>
  );
}

function Actions({ tool }: { readonly tool: Tool }) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const { toolId, name, definition, ownership } = tool;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${name}`} icon={<MoreHorizontal aria-hidden="true" />} small />
        }
      >
        {definition.http !== undefined && (
          <ScopedMenuItem
            needs="calls"
            icon={<FlaskConical aria-hidden="true" />}
            onSelect={() => void go(`/tools/${toolId}?view=test`)}
          >
            Test
          </ScopedMenuItem>
        )}
        <ScopedMenuItem
          needs="admin"
          icon={<Copy aria-hidden="true" />}
          onSelect={() => void go(`/tools/new?from=${toolId}`)}
        >
          Duplicate
        </ScopedMenuItem>
        {ownership === "private" && (
          <>
            <MenuSeparator />
            <ScopedMenuItem
              needs="admin"
              icon={<Trash2 aria-hidden="true" />}
              dangerous
              onSelect={() => setDeleting(true)}
            >
              Delete
            </ScopedMenuItem>
          </>
        )}
      </Menu>
      <DeleteTool tool={tool} open={deleting} onClose={() => setDeleting(false)} />
    </>
  );
}
