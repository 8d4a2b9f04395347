/*
 * Compares what two versions answered, after what no two runs share (ids, times, durations, paths) has been replaced.
 */
import { isRecord, type Json } from './json.ts';

/** One place at which two values differ. An absent side is `undefined`. */
export interface Difference {
  /** A JSON Pointer. */
  readonly path: string;
  readonly old: Json | undefined;
  readonly new: Json | undefined;
}

/** Texts that only one run has, with what takes their place: directories, the version's own package. */
export type Replacements = readonly (readonly [text: string, placeholder: string])[];

/** What a run makes new each time: an id of it (UUID version 7), or an instant. */
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g;
const instant = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/** A digest, or an id of a key or a log. */
const hex = /\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b/g;

/** Below these, every digest follows from keys and times, and is replaced. */
const signed = /^\/verification\//;

/** Members that hold a measured time. */
const measured = /(?:^|_)ms$|Ms$|^duration/;

/**
 * Members whose value follows from an id, a key or a time of the run, by the end of their JSON Pointer. Every other
 * digest is compared as it is.
 */
const volatile: readonly RegExp[] = [/\/commit_sha$/, /\/decision_digest$/];

/**
 * A copy in which ids are numbered by their first appearance (`{id 1}`), and times, measured times, volatile members
 * and given texts are replaced. Two values that say the same have the same copy.
 */
export function normalise(value: Json, replacements: Replacements = []): Json {
  const ids = new Map<string, string>();
  const longestFirst = [...replacements]
    .filter(([text]) => text !== '')
    .sort(([a], [b]) => b.length - a.length);
  return walk(value, '');

  function walk(at: Json, path: string): Json {
    if (typeof at === 'string') return signed.test(path) ? text(at).replace(hex, '{digest}') : text(at);
    if (Array.isArray(at)) return at.map((one, index) => walk(one, `${path}/${index}`));
    if (!isRecord(at)) return at;
    const entries = Object.entries(at).map(([name, one]) => {
      const place = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (typeof one === 'number' && measured.test(name)) return [text(name), '{measured}'];
      if (one !== null && isVolatile(place, at)) return [text(name), '{volatile}'];
      if (name === 'slowest' && Array.isArray(one))
        return [name, byName(walk(one, place) as readonly Json[])];
      return [text(name), walk(one, place)];
    });
    return Object.fromEntries(entries) as Json;
  }

  function text(given: string): string {
    let said = given;
    for (const [found, placeholder] of longestFirst) said = said.replaceAll(found, placeholder);
    return said.replace(uuid, numbered).replace(instant, '{time}');
  }

  function numbered(id: string): string {
    const known = ids.get(id) ?? `{id ${ids.size + 1}}`;
    ids.set(id, known);
    return known;
  }
}

function isVolatile(path: string, within: { readonly [key: string]: Json }): boolean {
  if (volatile.some((pattern) => pattern.test(path))) return true;
  // A log or a test report of a check, and what is signed, hold times and ids.
  const isDigest = /\/(?:sha256|size_bytes)$/.test(path);
  return isDigest && volatileFiles.test(String(within.path ?? ''));
}

const volatileFiles =
  /(?:\.log|test-log\.xml|\.sigstore\.json|\.tlog-proof|\.cdx\.json|\.spdx\.json|sca-report\.json|release-notes\.\w+)$/;

/** The order of what is sorted by measured time says nothing. */
function byName(list: readonly Json[]): Json {
  const name = (one: Json): string => (isRecord(one) ? String(one.name) : JSON.stringify(one));
  return [...list].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

/**
 * Every place at which two values differ, the innermost ones. In lists of different lengths the equal beginning and the
 * equal end are left out, so that one entry more is one difference.
 */
export function differences(old: Json | undefined, now: Json | undefined, path = ''): readonly Difference[] {
  if (isRecord(old) && isRecord(now)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
    return names.flatMap((name) =>
      differences(
        own(old, name),
        own(now, name),
        `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      ),
    );
  }
  if (Array.isArray(old) && Array.isArray(now)) return listDifferences(old, now, path);
  return isSame(old, now) ? [] : [{ path, old, new: now }];
}

function listDifferences(old: readonly Json[], now: readonly Json[], path: string): readonly Difference[] {
  let start = 0;
  let end = 0;
  if (old.length !== now.length) {
    const shorter = Math.min(old.length, now.length);
    while (start < shorter && isSame(old[start], now[start])) start += 1;
    while (end < shorter - start && isSame(old.at(-1 - end), now.at(-1 - end))) end += 1;
  }
  const length = Math.max(old.length, now.length) - end;
  return Array.from({ length: length - start }, (_, index) => index + start).flatMap((index) =>
    differences(
      index < old.length - end ? old[index] : undefined,
      index < now.length - end ? now[index] : undefined,
      `${path}/${index}`,
    ),
  );
}

function own(value: { readonly [key: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isSame(one, b[index]));
  if (!isRecord(a) || !isRecord(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}
