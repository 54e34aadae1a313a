/** Tries a query: the passages that an agent would get, and why each is where it is. */

import type { OutputOf } from "@parley/client/rest";
import { useState } from "react";
import { useApi } from "../../data/api.tsx";
import { Badge, Card } from "../../ui/display.tsx";
import { Form } from "../../ui/form.tsx";
import { CodeBlock } from "../../ui/parts.tsx";
import { TextField } from "../../ui/text-field.tsx";
import styles from "./search.module.css";

const QUERY = "/api/corpora/{corpus_id}/query";
/** As many as a tool may ask for. */
const MAX_RESULTS = 20;
/** Scores from which a passage is shown as a likely, or a possible, answer. */
const LIKELY = 0.5;
const POSSIBLE = 0.25;

type Hit = OutputOf<"POST", typeof QUERY>[number];

export interface SearchCardProps {
  readonly corpusId: string;
  /** Whether the corpus has vectors; without them only words are searched. */
  readonly hasVectors: boolean;
}

export function SearchCard({ corpusId, hasVectors }: SearchCardProps) {
  const api = useApi();
  const [query, setQuery] = useState("");
  const [hits, setHits] = useState<readonly Hit[] | null>(null);
  return (
    <Card
      title="Try a query"
      text="Shows the passages that an agent gets for a question. Questions without an answer are added to the list."
    >
      <Form
        label="Query"
        action="Search"
        refused="Not searched. Fix the highlighted fields."
        check={() => (query.trim() === "" ? [{ field: "query", message: "Enter a question." }] : [])}
        onSave={async () => {
          const body = { query, maxResults: MAX_RESULTS, explain: true };
          setHits(await api.fetch("POST", QUERY, { params: { corpus_id: corpusId }, body }));
        }}
      >
        <TextField label="Question" path="query" value={query} onChange={setQuery} />
      </Form>
      {hits !== null && <Hits hits={hits} hasVectors={hasVectors} />}
    </Card>
  );
}

function Hits({ hits, hasVectors }: { readonly hits: readonly Hit[]; readonly hasVectors: boolean }) {
  if (hits.length === 0)
    return <p role="status">No passage matches. An agent is told to say that it does not know.</p>;
  return (
    <ol className={styles.hits} aria-label="Passages">
      {hits.map((hit, index) => (
        <li key={`${hit.citation.documentId} ${String(index)}`}>
          <p className={styles.head}>
            <Badge tone={hit.score >= LIKELY ? "good" : hit.score >= POSSIBLE ? "warn" : "plain"}>
              {`Score ${hit.score.toFixed(2)}`}
            </Badge>
            <span>{whyOf(hit, hasVectors)}</span>
          </p>
          <p className={styles.source}>{sourceOf(hit)}</p>
          <CodeBlock label="Passage">{hit.content}</CodeBlock>
        </li>
      ))}
    </ol>
  );
}

/** Such as "Full text: place 1 · meaning: place 3". */
function whyOf({ ranking }: Hit, hasVectors: boolean): string {
  if (ranking === undefined) return "";
  const place = (rank: number | null): string => (rank === null ? "not found" : `place ${String(rank)}`);
  const isSearched = hasVectors || ranking.vectorRank !== null;
  const parts = [
    `Full text: ${place(ranking.textRank)}`,
    `meaning: ${isSearched ? place(ranking.vectorRank) : "not searched, there are no vectors"}`,
  ];
  if (ranking.fusedRank !== null) parts.push(`before the reranker: ${place(ranking.fusedRank)}`);
  return parts.join(" · ");
}

function sourceOf({ citation, ranking }: Hit): string {
  const { title, publicUrl, documentId } = citation;
  const parts = [title ?? publicUrl ?? documentId];
  if (ranking !== undefined && ranking.headingPath.length > 0) parts.push(ranking.headingPath.join(" > "));
  if (ranking !== undefined && ranking.page !== null) parts.push(`page ${String(ranking.page)}`);
  return parts.join(" · ");
}
