/** For calls whose tools answer with no stage. */

import type { PrepareStage } from "../prepare-stage.ts";

export const noStages: PrepareStage = () => Promise.resolve({ error: "there are no stages here" });
