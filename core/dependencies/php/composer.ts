import { entriesOf, isTable, jsonContent, listOf, type Table, tableOf, textOf } from '../content.ts';
import { fromHex } from '../integrity.ts';
import { LineFinder } from '../line-finder.ts';
import { LockBuilder } from '../lock-builder.ts';
import { cleanUrl } from '../origin.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';

/** What composer finds on the machine itself. */
const platform = /^(?:php(?:-[a-z0-9]+)?|hhvm|ext-.+|lib-.+|composer(?:-plugin-api|-runtime-api)?)$/i;

/** composer.json. */
export function readComposerJson(text: string, reading: ReadingBuilder): void {
  const content = jsonContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  for (const [field, scope] of [
    ['require', 'runtime'],
    ['require-dev', 'development'],
  ] as const) {
    const value = content.value[field];
    // PHP writes an empty table as an empty list.
    if (value !== undefined && !isTable(value) && listOf(value).length > 0)
      reading.problem(`\`${field}\` is not an object`);
    const lines = new LineFinder(text);
    lines.next(`${JSON.stringify(field)}`);
    for (const [key, spec] of entriesOf(value)) {
      if (platform.test(key)) continue;
      if (typeof spec !== 'string') {
        reading.problem(`a value of \`${field}\` is not a string`);
        continue;
      }
      const line = lines.next(`${JSON.stringify(key)}:`);
      const version = /^v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?$/.test(spec) ? spec : undefined;
      reading.declare({
        key,
        name: key.toLowerCase(),
        requirement: spec,
        scope,
        field,
        ...(version === undefined ? {} : { version }),
        ...(line === undefined ? {} : { line }),
      });
    }
  }
  if (typeof content.value.name === 'string') reading.local.add(content.value.name.toLowerCase());
}

/** composer.lock. A package that no package repository announced came from a repository of its own. */
export function readComposerLock(text: string, reading: ReadingBuilder): void {
  const content = jsonContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const lock = content.value;
  if (!Array.isArray(lock.packages)) {
    reading.problem('it has no list `packages`');
    return;
  }
  const builder = new LockBuilder(reading);
  const lines = new LineFinder(text);
  for (const [field, scope] of [
    ['packages', 'runtime'],
    ['packages-dev', 'development'],
  ] as const) {
    for (const value of listOf(lock[field])) {
      const entry = tableOf(value);
      const written = textOf(entry.name);
      if (written === '') {
        reading.problem('a package has no name');
        continue;
      }
      const line = lines.next(`"name": ${JSON.stringify(written)}`) ?? undefined;
      const name = written.toLowerCase();
      builder.add(name, {
        name,
        version: textOf(entry.version),
        ...placeOfEntry(entry),
        integrity: fromHex(textOf(tableOf(entry.dist).shasum), 'sha1'),
        license: licenceOf(entry.license),
        scope,
        line,
        asks: Object.keys(tableOf(entry.require)).map((asked) => asked.toLowerCase()),
      });
    }
  }
  builder.finish();
}

function placeOfEntry(entry: Table): {
  readonly source: SourceKind;
  readonly origin?: string;
  readonly revision?: string;
} {
  const dist = tableOf(entry.dist);
  const source = tableOf(entry.source);
  if (textOf(dist.type) === 'path') return { source: 'path', origin: textOf(dist.url) };
  if (typeof entry['notification-url'] === 'string') return { source: 'registry' };
  const repository = textOf(source.url);
  if (repository !== '')
    return { source: 'git', origin: cleanUrl(repository), revision: textOf(source.reference) };
  const url = cleanUrl(textOf(dist.url));
  return url === '' ? { source: 'registry' } : { source: 'url', origin: url };
}

/** A list is a choice, as composer's schema says. */
function licenceOf(value: unknown): string | undefined {
  if (typeof value === 'string') return textOf(value) || undefined;
  const all = listOf(value).slice(0, 16).map(textOf);
  if (all.length === 0 || all.includes('')) return undefined;
  return all.length === 1 ? all[0] : `(${all.join(' OR ')})`;
}
