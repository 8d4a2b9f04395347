import { readFileSync } from 'node:fs';
import { canonicalize } from '../../../core/base/canonical.ts';

export type Json = { [key: string]: unknown };
export type RecordFiles = ReadonlyMap<string, Buffer>;

/** The record of a run that was made once, by path: `fixtures/records/NAME.json`. */
export function readStoredRecord(name: string): RecordFiles {
  const url = new URL(`../../../fixtures/records/${name}.json`, import.meta.url);
  const texts = JSON.parse(readFileSync(url, 'utf8')) as Readonly<Record<string, string>>;
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
}

/** A record with one file changed, written again as canonically as before. */
export function tamper(files: RecordFiles, path: string, change: (value: never) => void): RecordFiles {
  const value = readRecordFile(files, path);
  change(value as never);
  return new Map(files).set(path, toRecordBytes(value));
}

export function readRecordFile(files: RecordFiles, path: string): Json {
  return JSON.parse(String(files.get(path))) as Json;
}

export function toRecordBytes(value: unknown): Buffer {
  return Buffer.from(`${canonicalize(value)}\n`);
}
