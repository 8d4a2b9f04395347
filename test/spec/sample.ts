import { readFileSync } from 'node:fs';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type AcceptedSpec, readIntentSpec } from '../../spec/read-intent-spec.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export const specFolder = new URL('../../fixtures/specs/', import.meta.url);

export type ValidName = 'minimal' | 'typical' | 'high-assurance';

const texts = new Map<ValidName, string>();

/** A fresh, changeable copy of a valid fixture. */
export function sample(name: ValidName): { [key: string]: Json } {
  const text = texts.get(name) ?? readFileSync(new URL(`valid/${name}.json`, specFolder), 'utf8');
  texts.set(name, text);
  return JSON.parse(text) as { [key: string]: Json };
}

export function bytesOf(document: unknown): Buffer {
  return Buffer.from(JSON.stringify(document));
}

/** A document that must be accepted, read. */
export function accepted(document: unknown): AcceptedSpec {
  const read = readIntentSpec(bytesOf(document));
  if (!read.ok) throw new Error(`not accepted: ${JSON.stringify(read.issues)}`);
  return read;
}

/** Sets the value at a path, making objects on the way; `undefined` removes it. */
export function put(document: Json, path: readonly (string | number)[], value: Json | undefined): void {
  let holder = document as { [key: string]: Json };
  for (const key of path.slice(0, -1)) {
    if (holder[key] === undefined) holder[key] = {};
    holder = holder[key] as { [key: string]: Json };
  }
  const last = path.at(-1) ?? '';
  if (value === undefined) delete holder[last];
  else holder[last] = value;
}

/** The sample with one change, typed for callers that need a document. */
export function changed(
  name: ValidName,
  path: readonly (string | number)[],
  value: Json | undefined,
): IntentSpec {
  const document = sample(name);
  put(document, path, value);
  return document as unknown as IntentSpec;
}
