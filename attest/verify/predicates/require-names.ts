import type { JsonObject } from '../../encoding/expect-json.ts';
import { refuted, unavailable } from '../report.ts';

/** One spelling for names that some reader takes for each other: without case, and with the words apart or not. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/**
 * Members that are not known are left aside, as the documents want it, but for those that are nearly one of `names`, as
 * readers that do not mind case take them for it: beside the right one they say two things at once (`malformed`); alone
 * they may be what was meant, which nobody read (`unsupported`). Asked once what is demanded was found.
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
