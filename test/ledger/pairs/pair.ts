import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { appendPointer, parsePointer } from '../../../core/base/json-pointer.ts';
import { fixtures, type Json, sampleSpec } from '../../engine/sample.ts';
import type { DriverName } from './drivers.ts';
import type { Difference } from './observation.ts';
import type { Scene } from './scene.ts';

/**
 * A change to a document: members whose names begin with `/` are set at that JSON Pointer, the others are merged as
 * RFC 7396 says. `null` removes in both.
 */
export type Patch = { readonly [key: string]: Json };

/** Two specs that differ in the row's field alone, and how what comes of them differs. */
export interface Pair {
  readonly endsAt: DriverName;
  /** Name in `bases.json`; absent: the sample's spec and its fix. */
  readonly base?: string;
  /** Of the scene; its members replace those of the base. */
  readonly scene?: Scene;
  /** What both specs have. */
  readonly given?: Patch;
  readonly a?: Patch;
  readonly b?: Patch;
  readonly differs: readonly Difference[];
  /** What has to be equal under both. */
  readonly same?: readonly Difference[];
  /** `none`: by contract the field changes no decision; `same` shows that, `differs` where it is shown to people. */
  readonly effect?: 'none';
}

/** Where two specs cannot show the row: a test by its file and name, and the reason. */
export interface OrdinaryTest {
  readonly test: { readonly file: string; readonly name: string; readonly because: string };
}

export type Proof = Pair | OrdinaryTest;

interface Base {
  readonly extends?: string;
  readonly spec?: Patch;
  readonly scene?: Scene;
}

const directory = join(fixtures, '..', 'ledger');

/** The proofs of all sections, each with the id of its row, in the order of the files. An id may be there twice. */
export function readProofs(): readonly (readonly [id: string, proof: Proof, section: string])[] {
  return readdirSync(join(directory, 'pairs'))
    .sort()
    .flatMap((file) => {
      const section = JSON.parse(readFileSync(join(directory, 'pairs', file), 'utf8')) as Record<
        string,
        Proof
      >;
      return Object.entries(section).map(([id, proof]) => [id, proof, file.replace(/\.json$/, '')] as const);
    });
}

const bases = JSON.parse(readFileSync(join(directory, 'bases.json'), 'utf8')) as Record<string, Base>;

/** The two documents of a pair and the scene in which both are tried. Throws for a base that does not exist. */
export function specsOf(pair: Pair): { readonly a: Json; readonly b: Json; readonly scene: Scene } {
  const chain = basesOf(pair.base ?? 'quick');
  const patches = [...chain.map(({ spec = {} }) => spec), pair.given ?? {}];
  const given = patches.reduce(patched, sample);
  return {
    a: patched(given, pair.a ?? {}),
    b: patched(given, pair.b ?? {}),
    scene: Object.assign({}, ...chain.map(({ scene }) => scene), pair.scene) as Scene,
  };
}

const sample = JSON.parse(sampleSpec().toString('utf8')) as Json;

/** A base and those that it extends, the first one first. */
function basesOf(name: string): readonly Base[] {
  const base = bases[name];
  if (base === undefined) throw new Error(`\`${name}\` is not in fixtures/ledger/bases.json`);
  return [...(base.extends === undefined ? [] : basesOf(base.extends)), base];
}

export function patched(document: Json, patch: Patch): Json {
  let changed = document;
  for (const [key, value] of Object.entries(patch))
    changed = key.startsWith('/')
      ? set(changed, parsePointer(key) ?? [], value)
      : merged(changed, { [key]: value });
  return changed;
}

function merged(document: Json | undefined, patch: Json): Json {
  if (!isRecord(patch)) return patch;
  const known: Record<string, Json> = isRecord(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete known[key];
    else known[key] = merged(known[key], value);
  return known;
}

function set(document: Json | undefined, tokens: readonly string[], value: Json): Json {
  const [token, ...rest] = tokens;
  if (token === undefined) return value;
  if (Array.isArray(document)) {
    const list = [...(document as readonly Json[])];
    const index = token === '-' ? list.length : Number(token);
    if (rest.length === 0 && value === null) list.splice(index, 1);
    else list[index] = set(list[index], rest, value);
    return list;
  }
  const known: Record<string, Json> = isRecord(document) ? { ...document } : {};
  if (rest.length === 0 && value === null) delete known[token];
  else known[token] = set(known[token], rest, value);
  return known;
}

export function isRecord(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Pointers to everything that two documents do not have in common, the deepest that name it. */
export function differingPlaces(a: Json | undefined, b: Json | undefined, at = ''): readonly string[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  const [left, right] = [a ?? emptyAs(b), b ?? emptyAs(a)];
  if (Array.isArray(left) !== Array.isArray(right) || !isHolder(left) || !isHolder(right)) return [at];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return keys.flatMap((key) => differingPlaces(left[key], right[key], appendPointer(at, key)));
}

type Holder = Readonly<Record<string, Json>>;

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

/** What is compared with a value where nothing is: a list or an object that holds something is looked into. */
function emptyAs(value: Json | undefined): Json | undefined {
  if (!isHolder(value) || Object.keys(value).length === 0) return undefined;
  return Array.isArray(value) ? [] : {};
}

/** Whether a pointer is a row's path or below it; `*` in the path stands for any one token. */
export function isWithin(pointer: string, path: string): boolean {
  const tokens = pointer.split('/');
  return path
    .split('/')
    .every((token, index) => token === tokens[index] || (token === '*' && index < tokens.length));
}

/** What is run for a pair, as text: specs of two pairs that are alike in it are run once. */
export function runsOf(pair: Pair): readonly [a: string, b: string] {
  const { a, b, scene } = specsOf(pair);
  return [JSON.stringify([pair.endsAt, scene, a]), JSON.stringify([pair.endsAt, scene, b])];
}

/**
 * So many of these ids, in the order of their digests, that they take a tenth of all runs. The choice is always the
 * same, and a new id takes the place of few.
 */
export function fixedTenth(runs: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const rank = new Map([...runs.keys()].map((id) => [id, sha256Hex(Buffer.from(id))]));
  const ids = [...runs.keys()].sort((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1));
  const most = Math.ceil(new Set([...runs.values()].flat()).size / 10);
  const taken = new Set<string>();
  return ids.filter((id, index) => {
    const own = runs.get(id) ?? [];
    const more = own.filter((run) => !taken.has(run)).length;
    if (index > 0 && taken.size + more > most) return false;
    for (const run of own) taken.add(run);
    return true;
  });
}
