import type { ReadingBuilder } from './reading.ts';

/** Keeps a licence for a package of another file. */
export function statesLicence(
  reading: ReadingBuilder,
  name: string,
  version: string,
  licence: string | undefined,
): void {
  if (licence === undefined) return;
  reading.licences ??= new Map();
  reading.licences.set(version === '' ? name : `${name}@${version}`, licence);
}
