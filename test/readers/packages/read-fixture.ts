import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockedPackage } from '../../../readers/packages/apply-manifests.ts';

export const fixtures = join(import.meta.dirname, '../../../fixtures/dependencies');

/** Files of one folder by path; `expected.json` is none of them. */
export function readFixture(name: string): Map<string, Uint8Array> {
  const root = join(fixtures, name);
  const files = new Map<string, Uint8Array>();
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    if (entry.isFile() && path !== 'expected.json') files.set(path, readFileSync(join(root, path)));
  }
  return files;
}

/** A package in one line: what fixtures compare. */
export function lineOf(one: LockedPackage): string {
  const { purl, direct, scope, license, integrity, source, requirement, dependsOn, declaredIn, line } = one;
  return [
    purl,
    direct ? 'direct' : 'transitive',
    scope,
    license ?? '-',
    integrity?.algorithm ?? '-',
    source ?? '-',
    requirement ?? '-',
    dependsOn.join(' ') || '-',
    `${declaredIn}:${line}`,
  ].join(' | ');
}

/** Files of a test out of texts. */
export function filesOf(texts: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}
