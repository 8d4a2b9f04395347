import { parseBundle } from '../../bundle/bundle.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../../encoding/expect-json.ts';
import { refuted } from '../report.ts';
import { readResource } from './read-resource.ts';

/**
 * Reads our evidence manifest whole: the run, and each file once by its SHA-256
 * (`docs/schemas/evidence-manifest.v1.json`).
 */
export function readManifest({ runId, files }: JsonObject): {
  readonly runId: string;
  readonly files: ReadonlyMap<string, string>;
} {
  const listed = new Map<string, string>();
  for (const [n, value] of expectArray(files, '/files', 100_000).entries()) {
    const { name, digest } = readResource(value, `/files/${n}`);
    const path = expectText(name, `/files/${n}/name`);
    if (listed.has(path)) throw refuted('malformed', { found: `\`${path}\` is listed twice` });
    listed.set(path, expectText(digest.get('sha256'), `/files/${n}/digest/sha256`));
  }
  return { runId: expectText(runId, '/runId', /^.{1,128}$/), files: listed };
}

const maxPayloadBytes = 16 * 1024 * 1024;

/** The files of an evidence manifest in a bundle, whose signature is not verified. */
export function readUnverifiedManifest(bytes: Uint8Array): ReadonlyMap<string, string> {
  const { predicate } = parseJsonObject(parseBundle(bytes).envelope.payload, maxPayloadBytes);
  return readManifest(expectObject(predicate, '/predicate')).files;
}
