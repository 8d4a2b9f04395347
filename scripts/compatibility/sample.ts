/* The sample repository and spec of `fixtures/runs`, and how a case of it is read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inventedSecrets } from '../../test/readers/sensitive/secrets/invented-secrets.ts';
import { isRecord, type Json } from './json.ts';
import type { Files, TreeFile } from './repository.ts';

export const runFixtures = fileURLToPath(new URL('../../fixtures/runs/', import.meta.url));

/** Every file below a directory, by path with `/`. */
export function readFiles(directory: string): Files {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry): [string, TreeFile] => {
        const path = join(entry.parentPath, entry.name);
        const name = path
          .slice(directory.length)
          .replace(/^[\\/]/, '')
          .split(sep)
          .join('/');
        return [name, { bytes: readFileSync(path) }];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

export function sampleFiles(): Files {
  return readFiles(join(runFixtures, '_sample'));
}

/** The sample's spec with `more` merged into it; lists and scalars replace. */
export function sampleSpec(more: Json = {}): Json {
  return merge(JSON.parse(readFileSync(join(runFixtures, '_sample.intent.json'), 'utf8')) as Json, more);
}

/** A case of `fixtures/runs`. */
export interface RunCase {
  readonly name: string;
  readonly spec: Json;
  readonly patch: Buffer;
  /** A file of `fixtures/advisories` that the user has imported. */
  readonly advisories?: string;
}

export function readRunCases(): readonly RunCase[] {
  return readdirSync(runFixtures)
    .filter((name) => !name.startsWith('_'))
    .map((name) => {
      const { spec, advisories } = JSON.parse(readFileSync(join(runFixtures, name, 'case.json'), 'utf8')) as {
        readonly spec: Json;
        readonly advisories?: string;
      };
      const patch = fillSecrets(readFileSync(join(runFixtures, name, 'change.diff')));
      return { name, spec: sampleSpec(spec), patch, ...(advisories === undefined ? {} : { advisories }) };
    });
}

/** `{invented:<rule>}` becomes a value of that format, which no file of the repository holds. */
function fillSecrets(diff: Buffer): Buffer {
  if (!diff.includes('{invented:')) return diff;
  const filled = diff
    .toString('latin1')
    .replace(
      /\{invented:([a-z-]+)\}/g,
      (_, wanted) => inventedSecrets.find(([rule]) => rule === wanted)?.[1] ?? '',
    );
  return Buffer.from(filled, 'latin1');
}

/** `base` with `more` merged into it; lists and scalars replace. */
export function merge(base: Json, more: Json): Json {
  if (!isRecord(base) || !isRecord(more)) return more;
  const merged: { [key: string]: Json } = { ...base };
  for (const [key, value] of Object.entries(more)) merged[key] = merge(merged[key] ?? null, value);
  return merged;
}
