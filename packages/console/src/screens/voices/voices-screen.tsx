/** All voices, and the API keys of voice providers. */

import type { Voice } from "@parley/schema";
import { AudioLines, MoreHorizontal, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { ScopedLink, ScopedMenuItem } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader, SearchField, Toolbar } from "../../ui/display.tsx";
import { Select, TextInput } from "../../ui/field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Inline } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useSearchText } from "../search-text.ts";
import { DeleteVoice } from "./delete-voice.tsx";
import { TtsKeys } from "./tts-keys.tsx";
import { KIND_NAMES, KINDS, kindOf } from "./voice-draft.ts";
import { PlayButton, VoicePlayer } from "./voice-preview.tsx";
import styles from "./voices.module.css";

const OWNERSHIPS = [
  { value: "", label: "All" },
  { value: "private", label: "Yours" },
  { value: "public", label: "Public" },
] as const;

const PROVIDERS = [
  { value: "", label: "All providers" },
  ...KINDS.map((value) => ({ value, label: KIND_NAMES[value] })),
];

function providerName({ definition }: Voice): string {
  return definition === null ? "Built-in" : KIND_NAMES[kindOf(definition)];
}

const COLUMNS: readonly Column<Voice>[] = [
  {
    id: "name",
    label: "Name",
    cell: (voice) => (
      <Inline>
        <PlayButton voiceId={voice.voiceId} name={voice.name} />
        <div className={styles.name}>
          {voice.ownership === "private" ? (
            <Link to={`/voices/${voice.voiceId}`}>{voice.name}</Link>
          ) : (
            <strong>{voice.name}</strong>
          )}
          {voice.description !== null && <span className={styles.description}>{voice.description}</span>}
        </div>
      </Inline>
    ),
  },
  { id: "language", label: "Language", cell: ({ languageLabel }) => languageLabel ?? "Any" },
  { id: "provider", label: "Provider", cell: (voice) => providerName(voice) },
  {
    id: "own",
    label: "Owner",
    cell: ({ ownership }) =>
      ownership === "private" ? <Badge tone="agent">Yours</Badge> : <Badge>Public</Badge>,
  },
  { id: "actions", label: "Actions", actions: true, cell: (voice) => <Actions voice={voice} /> },
];

export function VoicesScreen() {
  return (
    <Page>
      <PageHeader
        title="Voices"
        lead="Voices for your agents. Play one to hear it."
        actions={
          <ScopedLink needs="admin" to="/voices/new" kind="primary">
            <Plus aria-hidden="true" /> New voice
          </ScopedLink>
        }
      />
      <Tabs
        label="Voices and keys"
        tabs={[
          { id: "voices", label: "Voices", content: <VoiceList /> },
          { id: "keys", label: "Provider keys", content: <TtsKeys /> },
        ]}
      />
    </Page>
  );
}

function VoiceList() {
  const search = useSearchText();
  const language = useSearchText();
  const [ownership, setOwnership] = useState<(typeof OWNERSHIPS)[number]["value"]>("");
  const [provider, setProvider] = useState("");
  const pages = usePages("/api/voices", {
    query: {
      ...(search.wanted === "" ? {} : { search: search.wanted }),
      ...(language.wanted === "" ? {} : { primaryLanguage: language.wanted }),
      ...(ownership === "" ? {} : { ownership }),
      ...(provider === "" ? {} : { provider: [provider] }),
    },
  });
  return (
    <VoicePlayer>
      <div className={styles.list}>
        <Toolbar>
          <SearchField label="Search voices" value={search.text} onChange={search.setText} />
          <div className={styles.language}>
            <TextInput
              aria-label="Language, such as en or de-CH"
              placeholder="Language: en, de-CH"
              spellCheck={false}
              maxLength={35}
              value={language.text}
              onChange={(event) => language.setText(event.target.value)}
            />
          </div>
          <Select aria-label="Owner" value={ownership} choices={OWNERSHIPS} onChange={setOwnership} />
          <Select aria-label="Provider" value={provider} choices={PROVIDERS} onChange={setProvider} />
        </Toolbar>
        <PagedTable
          label="Voices"
          pages={pages}
          columns={COLUMNS}
          keyOf={({ voiceId }) => voiceId}
          empty={
            <Empty icon={<AudioLines aria-hidden="true" />} title="No matching voices">
              Change the search or the filter.
            </Empty>
          }
        />
      </div>
    </VoicePlayer>
  );
}

function Actions({ voice }: { readonly voice: Voice }) {
  const [deleting, setDeleting] = useState(false);
  if (voice.ownership === "public") return null;
  return (
    <>
      <Menu
        trigger={
          <IconButton
            label={`Actions for ${voice.name}`}
            icon={<MoreHorizontal aria-hidden="true" />}
            small
          />
        }
      >
        <ScopedMenuItem
          needs="admin"
          icon={<Trash2 aria-hidden="true" />}
          dangerous
          onSelect={() => setDeleting(true)}
        >
          Delete
        </ScopedMenuItem>
      </Menu>
      <DeleteVoice voice={voice} open={deleting} onClose={() => setDeleting(false)} />
    </>
  );
}
