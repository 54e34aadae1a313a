/** The S3 bucket for recordings: settings of the environment. All required ones are set, or none. */

import { z } from "zod";
import { flag, httpUrl } from "./env-fields.ts";
import type { S3Settings } from "../providers/recordings/s3-recordings.ts";

const text = z.string().trim().max(1_000).optional();

export const BUCKET_FIELDS = {
  RECORDINGS_S3_BUCKET: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      "must be a bucket name: 3 to 63 characters of a-z, 0-9, dots and hyphens",
    )
    .optional(),
  RECORDINGS_S3_ENDPOINT: httpUrl
    .refine((url) => new URL(url).pathname === "/" && new URL(url).search === "", "must have no path")
    .optional(),
  RECORDINGS_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,60}$/i, "must be a region, such as eu-central-1")
    .optional(),
  RECORDINGS_S3_ACCESS_KEY_ID: text,
  RECORDINGS_S3_SECRET_ACCESS_KEY: text,
  // No slash at either end, and only characters that need no escape in a URL.
  RECORDINGS_S3_PREFIX: z
    .string()
    .regex(
      /^[\w.-]+(?:\/[\w.-]+)*$/,
      "must contain only letters, digits, dots, hyphens and underscores, with single slashes between them",
    )
    .max(200, "must have at most 200 characters")
    .optional(),
  RECORDINGS_S3_PATH_STYLE: flag.optional(),
  RECORDINGS_S3_REDIRECT: flag.optional(),
};

const Fields = z.object(BUCKET_FIELDS);
type BucketFields = z.infer<typeof Fields>;

const REQUIRED = [
  "RECORDINGS_S3_BUCKET",
  "RECORDINGS_S3_ENDPOINT",
  "RECORDINGS_S3_REGION",
  "RECORDINGS_S3_ACCESS_KEY_ID",
  "RECORDINGS_S3_SECRET_ACCESS_KEY",
] as const;

/** For `superRefine`: where one of the settings is set, the required ones must be set too. */
export function checkBucketFields(values: BucketFields, context: z.RefinementCtx): void {
  const names = Object.keys(BUCKET_FIELDS) as (keyof BucketFields)[];
  const given = names.find((name) => values[name] !== undefined);
  const missing = REQUIRED.find((name) => values[name] === undefined);
  if (given === undefined || missing === undefined) return;
  context.addIssue({ code: "custom", path: [missing], message: `is required together with ${given}` });
}

export function bucketOf(values: BucketFields): S3Settings | null {
  const {
    RECORDINGS_S3_BUCKET: bucket,
    RECORDINGS_S3_ENDPOINT: endpoint,
    RECORDINGS_S3_REGION: region,
    RECORDINGS_S3_ACCESS_KEY_ID: accessKeyId,
    RECORDINGS_S3_SECRET_ACCESS_KEY: secretAccessKey,
    RECORDINGS_S3_PREFIX: prefix,
  } = values;
  if (bucket === undefined || endpoint === undefined || region === undefined) return null;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return {
    bucket,
    endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    prefix: prefix === undefined ? "" : `${prefix}/`,
    // Every store accepts it; a host name for each bucket needs DNS entries and certificates that many do not have.
    pathStyle: values.RECORDINGS_S3_PATH_STYLE ?? true,
    redirects: values.RECORDINGS_S3_REDIRECT ?? false,
  };
}
