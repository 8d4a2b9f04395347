import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scanSource } from '../../architecture/scan-source.ts';
import { root, type WordPlace } from './word-places.ts';

const broken = new Map<
  string,
  { readonly url: string; readonly text: string; readonly reached: ReadonlySet<string> }
>();
let count = 0;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const [, nth] = /\?word=(\d+)$/.exec(context.parentURL ?? '') ?? [];
    if (nth === undefined || !broken.get(nth)?.reached.has(found.url)) return found;
    return { ...found, url: `${found.url}?word=${nth}` };
  },
  load(url, context, next) {
    const [, plain, nth] = /^(.*)\?word=(\d+)$/.exec(url) ?? [];
    const one = nth === undefined ? undefined : broken.get(nth);
    if (one === undefined || one.url !== plain) return next(url, context);
    return { format: 'module', source: one.text, shortCircuit: true };
  },
});

/** A module where a word of one that it stands on is taken away; what does not reach that is shared. */
export async function withoutWord(
  entry: string,
  { table, start, end, to }: WordPlace,
): Promise<Record<string, unknown>> {
  const file = table.slice(0, table.indexOf('#'));
  const text = readFileSync(join(root, file), 'utf8');
  count += 1;
  const nth = String(count);
  broken.set(nth, {
    url: urlOf(file),
    text: stripTypeScriptTypes(text.slice(0, start) + to + text.slice(end)),
    reached: new Set([...reaching(entry, file)].map(urlOf)),
  });
  try {
    return (await import(`${urlOf(entry)}?word=${nth}`)) as Record<string, unknown>;
  } finally {
    broken.delete(nth);
  }
}

/** Where Node finds a file of the project. */
export function urlOf(file: string): string {
  return pathToFileURL(join(root, file)).href;
}

/** Whether one module stands on another. */
export function reaches(entry: string, file: string): boolean {
  return reaching(entry, file).has(entry);
}

const importsOf = new Map<string, readonly string[]>();

function reaching(entry: string, file: string): ReadonlySet<string> {
  const users = new Map<string, string[]>();
  const seen = new Set([entry]);
  for (const one of seen) {
    for (const used of imported(one)) {
      users.set(used, [...(users.get(used) ?? []), one]);
      seen.add(used);
    }
  }
  const found = new Set(seen.has(file) ? [file] : []);
  for (const one of found) for (const user of users.get(one) ?? []) found.add(user);
  return found;
}

function imported(file: string): readonly string[] {
  const known = importsOf.get(file);
  if (known !== undefined) return known;
  const found = scanSource(readFileSync(join(root, file), 'utf8'))
    .specifiers.filter((one) => one.startsWith('.') && one.endsWith('.ts'))
    .map((one) => posix.join(posix.dirname(file), one));
  importsOf.set(file, found);
  return found;
}
