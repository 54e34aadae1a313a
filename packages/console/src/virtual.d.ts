/** Made by `build/field-notes.ts`: what the interface says about the fields of a schema. */
declare module "virtual:field-notes/*" {
  export const notes: Readonly<
    Record<
      string,
      {
        readonly hint?: string;
        readonly byDefault?: string | number | boolean;
        readonly min?: number | string;
        readonly max?: number | string;
        readonly minLength?: number;
        readonly maxLength?: number;
        readonly maxItems?: number;
        readonly choices?: readonly string[];
      }
    >
  >;
}
