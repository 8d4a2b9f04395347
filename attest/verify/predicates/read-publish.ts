import { expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { refuted, unavailable } from '../report.ts';

/** Written by the npm registry when it publishes a package. */
export const npmPublishType = 'https://github.com/npm/attestation/tree/main/specs/publish/v0.1';
/** Written by an uploader to the Python Package Index (PEP 740). */
export const pypiPublishType = 'https://docs.pypi.org/attestations/publish/v1';

/**
 * Reads the npm registry's predicate: package name, version and registry. A subject that is named as an npm package
 * (`pkg:npm/NAME@VERSION`) must be that package: otherwise `mismatch`.
 */
export function readNpmPublish(predicate: JsonObject, subjects: readonly { readonly name: string }[]): void {
  const name = expectText(predicate.name, '/predicate/name', /^[!-~]{1,256}$/);
  const version = expectText(predicate.version, '/predicate/version', /^[!-~]{1,256}$/);
  expectText(predicate.registry, '/predicate/registry', /^https?:\/\/[!-~]{1,2048}$/);
  const expected = `pkg:npm/${name}@${version}`;
  for (const subject of subjects)
    if (subject.name.startsWith('pkg:npm/') && decoded(subject.name) !== expected)
      throw refuted('mismatch', { member: '/subject', expected, found: subject.name.slice(0, 400) });
}

/** The percent-decoded text, or the text itself where it is malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** PEP 740 leaves the predicate empty. What a member would claim is not read here. */
export function readPypiPublish(predicate: JsonObject): void {
  const [found] = Object.keys(predicate);
  if (found !== undefined)
    throw unavailable('unsupported', {
      member: '/predicate',
      expected: 'no member',
      found: found.slice(0, 64),
    });
}
