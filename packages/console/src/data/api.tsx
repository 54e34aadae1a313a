/** Requests to the service, and the cache of their responses. */

import {
  createRestClient,
  type InputOf,
  type OutputOf,
  ParleyError,
  type PathOf,
  type RestClient,
} from "@parley/client/rest";
import type { Account } from "@parley/schema";
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { upload, type Upload } from "./upload.ts";

/** The base URL of the service, with the path prefix of a proxy, without a trailing slash. */
export const BASE_URL = document.baseURI.replace(/[?#].*$/, "").replace(/\/+$/, "");

export interface SignedIn {
  readonly api: RestClient;
  /** The raw response with any status, for responses that are not the service's own or whose headers matter. */
  readonly send: (method: string, path: string, init?: RequestInit) => Promise<Response>;
  /** A POST with a large body. */
  readonly upload: (path: string, sent: Upload) => Promise<Response>;
  /** The first eight characters of the API key, which name it. */
  readonly keyPrefix: string;
  /** From the check of the key; `useRead("/api/accounts/me", {})` has the current state. */
  readonly account: Account;
  /** `reason` is shown on the sign-in page. */
  readonly signOut: (reason?: string) => void;
}

const SignedInContext = createContext<SignedIn | null>(null);

export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === null) throw new Error("This part needs a signed-in user.");
  return signedIn;
}

export function useApi(): RestClient {
  return useSignedIn().api;
}

/** For requests without the client: audio and other files. */
export function clientFor(apiKey: string): RestClient {
  return createRestClient({ baseUrl: BASE_URL, apiKey });
}

const KEY_PREFIX_LENGTH = 8;

const KEY_REFUSED = "This API key is no longer valid. Sign in again.";
/** Retries: a restart of the service takes a few seconds. */
const MAX_RETRIES = 2;

function isRefusedKey(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 401;
}

/** Client errors are not retried: they would fail again. */
function mayHelp(error: unknown): boolean {
  return !(error instanceof ParleyError) || error.status >= 500 || error.status === 429;
}

function createQueryClient(onRefusedKey: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (isRefusedKey(error)) onRefusedKey();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < MAX_RETRIES && mayHelp(error),
        // A visited list is shown at once and refreshed in the background.
        staleTime: 2_000,
      },
      mutations: { retry: false },
    },
  });
}

export interface ApiProviderProps {
  readonly apiKey: string;
  readonly account: Account;
  readonly onSignOut: (reason?: string) => void;
  readonly children: ReactNode;
}

/** One per sign-in, so that no data of one account remains for the next. */
export function ApiProvider({ apiKey, account, onSignOut, children }: ApiProviderProps) {
  const [queries] = useState(() => createQueryClient(() => onSignOut(KEY_REFUSED)));
  const signedIn = useMemo<SignedIn>(
    () => ({
      api: clientFor(apiKey),
      send: (method, path, init) => {
        const headers = new Headers(init?.headers);
        headers.set("X-API-Key", apiKey);
        return fetch(`${BASE_URL}${path}`, { ...init, method, headers });
      },
      upload: (path, sent) =>
        upload(`${BASE_URL}${path}`, { ...sent, headers: { ...sent.headers, "X-API-Key": apiKey } }),
      keyPrefix: apiKey.slice(0, KEY_PREFIX_LENGTH),
      account,
      signOut: onSignOut,
    }),
    [apiKey, account, onSignOut],
  );
  return (
    <SignedInContext value={signedIn}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </SignedInContext>
  );
}

/** The client computes its type from path and input together, which a generic caller cannot express. */
export type AnyFetch = (method: "GET", path: string, input: object) => Promise<unknown>;

export interface ReadOptions<Answer = unknown> {
  /** False: do not read yet. */
  readonly enabled?: boolean;
  /** Poll at this interval while the page is visible. A function decides by the last response; null stops. */
  readonly everyMs?: number | ((answer: Answer | undefined) => number | null);
}

/** One GET, repeated after a change below its path. */
export function useRead<P extends PathOf<"GET">>(
  path: P,
  input: InputOf<"GET", P>,
  { enabled = true, everyMs }: ReadOptions<OutputOf<"GET", P>> = {},
): UseQueryResult<OutputOf<"GET", P>, unknown> {
  const api = useApi();
  const again = typeof everyMs === "function" ? everyMs : () => everyMs ?? null;
  return useQuery({
    queryKey: [path, "read", input],
    queryFn: async ({ signal }) => {
      const answer = await (api.fetch as AnyFetch)("GET", path, { ...input, signal });
      return answer as OutputOf<"GET", P>;
    },
    enabled,
    refetchInterval: ({ state }) => again(state.data) ?? false,
  });
}

/** Invalidates everything read below these paths: `/api/agents` also covers single agents. */
export function useStale(): (...paths: readonly string[]) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    (...paths) =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [of] }) =>
          typeof of === "string" && paths.some((path) => of.startsWith(path)),
      }),
    [queries],
  );
}

/**
 * A change: `change((api, id: string) => api.fetch("DELETE", …), ["/api/agents"])`. Everything below `stale` is read
 * again before `mutateAsync` resolves.
 */
export function useChange<Input, Output>(
  change: (api: RestClient, input: Input) => Promise<Output>,
  stale: readonly string[],
): UseMutationResult<Output, unknown, Input> {
  const api = useApi();
  const makeStale = useStale();
  return useMutation<Output, unknown, Input>({
    mutationFn: (input) => change(api, input),
    onSuccess: () => makeStale(...stale),
  });
}
