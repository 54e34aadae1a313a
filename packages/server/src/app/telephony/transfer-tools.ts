/** The tools that transfer calls, for calls over carriers and over SIP. */

import type { ToolInvoker } from "../../ports/tool-invoker.ts";

type Invoke = ToolInvoker["invoke"];

export interface SipTransferTools {
  /** Whether the call is one over SIP of this process, whose tools these are. */
  readonly serves: (callId: string) => boolean;
  readonly invoke: Invoke;
}

export interface TransferTools {
  readonly invoke: Invoke;
  /** From now on calls over SIP have these tools. Without it they have none. */
  readonly serveSip: (tools: SipTransferTools) => void;
}

export function openTransferTools(carriers: Invoke): TransferTools {
  let sip: SipTransferTools | null = null;
  return {
    invoke: (call, signal) =>
      sip?.serves(call.callId) === true ? sip.invoke(call, signal) : carriers(call, signal),
    serveSip: (tools) => (sip = tools),
  };
}
