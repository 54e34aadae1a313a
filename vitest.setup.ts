/**
 * Property tests draw the same cases in every run, so that a red run means a change and can be repeated by anybody.
 * `FC_SEED=random npm test` looks for new ones; what it finds becomes an example of its own.
 */

import { configureGlobal } from "fast-check";

const DEFAULT_SEED = 20_261_121;
const wanted = process.env["FC_SEED"];

if (wanted !== "random") configureGlobal({ seed: wanted === undefined ? DEFAULT_SEED : Number(wanted) });
