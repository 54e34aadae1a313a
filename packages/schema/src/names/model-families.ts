/** Families of model names of the public service; all of them stand for the deployment's default (D46). */
const PUBLIC_MODEL = /^(?:ultravox-v|ultravox\/|fixie-ai\/)/;

/** Whether a model name that the deployment does not list is accepted, and means its default model. */
export function standsForDefaultModel(name: string): boolean {
  return PUBLIC_MODEL.test(name);
}
