import { parseBase64 } from '../../encoding/base64.ts';
import { expectArray, expectObject, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { readDigestSet } from '../../statement/digest-forms.ts';
import { refuted } from '../report.ts';
import { requireNames } from './require-names.ts';

/** An in-toto ResourceDescriptor, as far as anybody here asks about it. */
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
