/** A document of which any part may be missing: what semantic rules read, so that they also judge broken documents. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? readonly (Partly<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
    : T;
