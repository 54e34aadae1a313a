/** Calls `assigned` with each object that the library puts into a member, before the library uses it. */
export function onAssignment<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  assigned: (value: NonNullable<Owner[Name]>) => void,
): void {
  let current = owner[name];
  Object.defineProperty(owner, name, {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (value: Owner[Name]) => {
      current = value;
      if (value !== undefined && value !== null) assigned(value);
    },
  });
}
