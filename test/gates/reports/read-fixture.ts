import { readFileSync } from 'node:fs';

/** A recorded report of `fixtures/gates/reports`. */
export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`../../../fixtures/gates/reports/${name}`, import.meta.url));
}
