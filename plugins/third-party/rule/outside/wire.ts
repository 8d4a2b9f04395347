/*
 * Runs on both sides of the boundary: in the engine and, alone with its neighbour, in the sandbox. It imports types
 * only.
 */
import type { FileSides, RuleInput } from '../../../../core/interfaces/rule.ts';

/** Bytes become base64 at the places where a rule's input has bytes; everything else of it is plain data already. */
export function toWire(input: RuleInput): string {
  const { patch, files, artifactBytes, standing } = input;
  return JSON.stringify({
    ...input,
    patch: { ...patch, diff: toText(patch.diff) },
    files: mapValues(files, (sides) => mapValues({ ...sides }, toText)),
    ...(artifactBytes === undefined ? {} : { artifactBytes: mapValues(artifactBytes, toText) }),
    ...(standing === undefined ? {} : { standing: mapValues(standing, toText) }),
  });
}

/** What `toWire` wrote, as a rule gets it in a thread. */
export function fromWire(text: string): RuleInput {
  const { patch, files, artifactBytes, standing, ...rest } = JSON.parse(text) as Wire;
  return {
    ...rest,
    patch: { ...patch, diff: toBytes(patch.diff) },
    files: mapValues(files, (sides): FileSides => mapValues(sides, toBytes)),
    ...(artifactBytes === undefined ? {} : { artifactBytes: mapValues(artifactBytes, toBytes) }),
    ...(standing === undefined ? {} : { standing: mapValues(standing, toBytes) }),
  };
}

/** The answer of the process in the sandbox: one line that starts with `answerMark`. */
export type WireAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly name: string; readonly message: string };

/** Begins the line that is the answer. */
export const answerMark = 'writ-answer ';

type Texts = Readonly<Record<string, string>>;
type Wire = Omit<RuleInput, 'patch' | 'files' | 'artifactBytes' | 'standing'> & {
  readonly patch: Omit<RuleInput['patch'], 'diff'> & { readonly diff: string };
  readonly files: Readonly<Record<string, Texts>>;
  readonly artifactBytes?: Texts;
  readonly standing?: Texts;
};

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function toBytes(text: string): Uint8Array<SharedArrayBuffer> {
  const bytes = Buffer.from(text, 'base64');
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
