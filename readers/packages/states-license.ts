import type { ReadingBuilder } from './reading.ts';

/** Keeps a license for a package of another file. */
export function statesLicense(
  reading: ReadingBuilder,
  name: string,
  version: string,
  license: string | undefined,
): void {
  if (license === undefined) return;
  reading.licenses ??= new Map();
  reading.licenses.set(version === '' ? name : `${name}@${version}`, license);
}
