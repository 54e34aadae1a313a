/** Actions on a call: send a message and hang up while it runs, download and delete after its end. */

import type { Call } from "@parley/schema";
import { Download, FileText, MessageSquareText, Mic, PhoneOff, Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useChange, useSignedIn } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { DeleteCall } from "./delete-call.tsx";
import { SendMessage } from "./send-message.tsx";

type Asked = "hangUp" | "send" | "delete" | null;

export function CallActions({ call }: { readonly call: Call }) {
  const [asked, setAsked] = useState<Asked>(null);
  const go = useNavigate();
  const close = () => setAsked(null);
  const isRunning = call.joined !== null && call.ended === null;
  return (
    <>
      {isRunning && (
        <>
          <ScopedButton needs="calls" onClick={() => setAsked("send")}>
            <MessageSquareText aria-hidden="true" /> Send message
          </ScopedButton>
          <ScopedButton needs="calls" kind="danger" onClick={() => setAsked("hangUp")}>
            <PhoneOff aria-hidden="true" /> Hang up
          </ScopedButton>
        </>
      )}
      {call.ended !== null && <Downloads call={call} />}
      <ScopedButton needs="admin" kind="danger" onClick={() => setAsked("delete")}>
        <Trash2 aria-hidden="true" /> Delete
      </ScopedButton>
      <HangUp call={call} open={asked === "hangUp"} onClose={close} />
      <SendMessage callId={call.callId} open={asked === "send"} onClose={close} />
      <DeleteCall
        callId={asked === "delete" ? call.callId : null}
        onClose={close}
        onDeleted={async () => {
          await go("/calls");
        }}
      />
    </>
  );
}

interface HangUpProps {
  readonly call: Call;
  readonly open: boolean;
  readonly onClose: () => void;
}

function HangUp({ call, open, onClose }: HangUpProps) {
  const toast = useToast();
  const hangUp = useChange<null, unknown>(
    (api) =>
      api.fetch("POST", "/api/calls/{call_id}/send_data_message", {
        params: { call_id: call.callId },
        body: { type: "hang_up" },
      }),
    ["/api/calls"],
  );
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title="Hang up?"
      text="The call ends immediately. To let the agent say goodbye first, send a “Hang up” message instead."
      action="Hang up now"
      dangerous
      onConfirm={async () => {
        await hangUp.mutateAsync(null);
        toast("Ending the call.");
      }}
    />
  );
}

function Downloads({ call: { callId, recordingEnabled, joined } }: { readonly call: Call }) {
  const { busy, download } = useDownload();
  return (
    <Menu
      trigger={
        <Button busy={busy}>
          <Download aria-hidden="true" /> Download
        </Button>
      }
    >
      <MenuItem
        icon={<Mic aria-hidden="true" />}
        disabled={!recordingEnabled || joined === null}
        onSelect={() => download(`/api/calls/${callId}/recording`, `${callId}.wav`)}
      >
        Recording
      </MenuItem>
      <MenuItem
        icon={<FileText aria-hidden="true" />}
        onSelect={() => download(`/api/calls/${callId}/event_log`, `${callId}.ndjson`)}
      >
        Event log
      </MenuItem>
    </Menu>
  );
}

/** How long the browser may take to start a download. */
const TAKEN_MS = 60_000;

/** Fetched by script, because a link cannot send the API key. */
function useDownload() {
  const { send } = useSignedIn();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const load = async (path: string, name: string) => {
    const answer = await send("GET", path, { redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      throw new Error("The recording is in external storage that the console cannot access.");
    }
    if (!answer.ok) throw await refusalOf(answer);
    const url = URL.createObjectURL(await answer.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
  };
  const download = (path: string, name: string) => {
    setBusy(true);
    load(path, name)
      .catch((error: unknown) => toast(error instanceof Error ? error.message : String(error), "failed"))
      .finally(() => setBusy(false));
  };
  return { busy, download };
}
