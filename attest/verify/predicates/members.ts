/* Reads the members that predicates share: resources, times, and names without near misses. */
import { clockSkewMs } from '../../../core/base/clock.ts';
import { isRfc3339DateTime } from '../../../readers/documents/date-time.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseBase64,
} from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/statement.ts';
import { refuted, unavailable } from '../report.ts';

/** The members of an in-toto ResourceDescriptor that verification reads. */
export interface Resource {
  readonly name: string | undefined;
  readonly uri: string | undefined;
  readonly digest: ReadonlyMap<string, string>;
  /** Unread; absent where it is unset. */
  readonly annotations?: JsonObject;
}

const line = /^[^\p{Cc}]{1,4096}$/u;
const uri = /^[!-~]{1,4096}$/;

/** True for what the SLSA documents call unset: absent, `null` or empty. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** A resource: whichever members it has have their form, and it has one of `uri`, `digest` and `content`. */
export function readResource(value: unknown, at: string): Resource {
  const resource = expectObject(value, at);
  const text = (name: string, form: RegExp): string | undefined =>
    isUnset(resource[name]) ? undefined : expectText(resource[name], `${at}/${name}`, form);
  const digest = isUnset(resource.digest)
    ? new Map<string, string>()
    : readDigestSet(resource.digest, `${at}/digest`);
  const content = text('content', /^/);
  if (content !== undefined && parseBase64(content) === undefined)
    throw refuted('malformed', { member: `${at}/content`, expected: 'base64' });
  const annotations = isUnset(resource.annotations)
    ? {}
    : { annotations: expectObject(resource.annotations, `${at}/annotations`) };
  const read: Resource = { name: text('name', line), uri: text('uri', uri), digest, ...annotations };
  text('mediaType', /^[ -~]{1,255}$/);
  text('downloadLocation', uri);
  if (read.uri === undefined && digest.size === 0 && content === undefined)
    throw refuted('malformed', { member: at, expected: 'one of `uri`, `digest`, `content`', found: 'none' });
  requireNames(resource, at, ['name', 'uri', 'digest', 'content']);
  return read;
}

/** A list of resources, empty where it is unset. */
export function readResources(value: unknown, at: string): readonly Resource[] {
  if (isUnset(value)) return [];
  return expectArray(value, at, 100_000).map((one, n) => readResource(one, `${at}/${n}`));
}

/** A map from names to text, as tools write their versions. */
export function readVersions(value: unknown, at: string): void {
  if (isUnset(value)) return;
  for (const [name, version] of Object.entries(expectObject(value, at)))
    expectText(version, `${at}/${name.slice(0, 64)}`, /^[^\p{Cc}]{0,512}$/u);
}

/** Folds names that a reader may confuse: case and word separators do not matter. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/**
 * Refuses members with nearly one of `names`, which readers that ignore case confuse with it: `malformed` beside the
 * right one, `unsupported` alone, since no one read it. Other unknown members are ignored, as the documents require.
 * Called after the required members were read.
 */
export function requireNames(object: JsonObject, at: string, names: readonly string[]): void {
  const meant = new Map(names.map((name) => [fold(name), name]));
  for (const found of Object.keys(object)) {
    const expected = names.includes(found) ? undefined : meant.get(fold(found));
    if (expected === undefined || object[found] === null) continue;
    const detail = { member: at, expected, found: found.slice(0, 64) };
    if (Object.hasOwn(object, expected)) throw refuted('malformed', detail);
    throw unavailable('unsupported', detail);
  }
}

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Epoch milliseconds of an RFC 3339 time with a valid calendar date (no 30 February), because an invalid date has no
 * order. Throws ATTESTATION_MALFORMED or `malformed`.
 */
export function readMoment(value: unknown, at: string): number {
  const text = expectText(value, at, form);
  const ms = Date.parse(text);
  if (isRfc3339DateTime(text) && Number.isFinite(ms)) return ms;
  throw refuted('malformed', { member: at, expected: 'a time that the calendar has', found: text });
}

/**
 * Requires that every stated moment, by member, is at most five minutes after the verifier's clock. Either clock may be
 * wrong, so a later one is VERIFY_NOTHING (`not-yet`).
 */
export function requirePast(moments: Readonly<Record<string, number | undefined>>, nowMs: number): void {
  for (const [member, ms] of Object.entries(moments))
    if (ms !== undefined && ms > nowMs + clockSkewMs)
      throw unavailable('not-yet', {
        member,
        found: new Date(ms).toISOString(),
        expected: `at most five minutes after ${new Date(nowMs).toISOString()}, by the clock of this machine`,
      });
}
