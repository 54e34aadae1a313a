/** For calls whose tools answer with no stage. */

import type { PrepareStage } from "../tasks/stage-runs.ts";

export const noStages: PrepareStage = () => Promise.resolve({ error: "there are no stages here" });
