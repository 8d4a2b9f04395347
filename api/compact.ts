type Kept<T> = {
  readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** The same without what is `undefined`: absent fields are left out of JSON. */
export function compact<T extends object>(record: T): Kept<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Kept<T>;
}
