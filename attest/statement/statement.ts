/** Algorithm → lower-case hex, e.g. `sha256`, `gitCommit`, `gitTree` (in-toto DigestSet). */
export type DigestSet = Readonly<Record<string, string>>;

/** in-toto v1 ResourceDescriptor, as far as we write it. */
export interface ResourceDescriptor {
  readonly name: string;
  readonly uri?: string;
  readonly digest: DigestSet;
  readonly mediaType?: string;
  readonly annotations?: Readonly<Record<string, readonly string[]>>;
}

/** in-toto Statement v1 around one kind of predicate. */
export interface Statement<Type extends string = string, Predicate = unknown> {
  readonly _type: typeof statementType;
  readonly subject: readonly ResourceDescriptor[];
  readonly predicateType: Type;
  readonly predicate: Predicate;
}

export const statementType = 'https://in-toto.io/Statement/v1';
