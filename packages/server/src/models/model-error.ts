/** Why a model cannot be fetched or used, in a sentence for the operator. */
export class ModelError extends Error {
  override readonly name = "ModelError";
}
