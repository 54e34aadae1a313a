/** Takes files by a drop or the file dialog, and uploads one after the other. */

import { useId, useState } from "react";
import { useApi } from "../../data/api.tsx";
import { Notice } from "../../ui/form.tsx";
import styles from "./drop-files.module.css";
import { ACCEPT, uploadFile } from "./upload-files.ts";

export interface DropFilesProps {
  readonly corpusId: string;
  /** How many may still be added. */
  readonly room: number;
  readonly onUploaded: (document: { readonly documentId: string; readonly name: string }) => void;
}

export function DropFiles({ corpusId, room, onUploaded }: DropFilesProps) {
  const api = useApi();
  const input = useId();
  const [isOver, setOver] = useState(false);
  const [sending, setSending] = useState<string | null>(null);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const send = async (files: readonly File[]) => {
    setFaults(files.length > room ? [`Only ${String(room)} more files fit into the source.`] : []);
    for (const file of files.slice(0, room)) {
      setSending(file.name);
      try {
        onUploaded({ documentId: await uploadFile(api, corpusId, file), name: file.name });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        setFaults((before) => [...before, message]);
      }
    }
    setSending(null);
  };
  return (
    <>
      <label
        htmlFor={input}
        className={isOver ? `${styles.drop} ${styles.over}` : styles.drop}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          if (sending === null) void send(Array.from(event.dataTransfer.files));
        }}
      >
        <span>Drop files here, or choose them</span>
        <small>PDF, Word, PowerPoint, EPUB, HTML, Markdown, text and CSV, up to 10 MiB each</small>
        <input
          id={input}
          type="file"
          multiple
          accept={ACCEPT}
          disabled={sending !== null}
          onChange={(event) => {
            const files = Array.from(event.target.files ?? []);
            event.target.value = "";
            void send(files);
          }}
        />
      </label>
      <p role="status">{sending === null ? "" : `Uploading ${sending} …`}</p>
      {faults.map((fault) => (
        <Notice key={fault} tone="warn">
          {fault}
        </Notice>
      ))}
    </>
  );
}
