import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from './content.ts';
import { fromHex, LockBuilder, type LockEntry } from './lock-builder.ts';
import { cleanUrl } from './origin.ts';
import type { ReadingBuilder } from './reading.ts';
import { shownPlace } from './sources/package-source.ts';
import { looseWhenOn, onByDefault, readSettings } from './sources/settings.ts';

/** What composer finds on the machine itself. */
const platform = /^(?:php(?:-[a-z0-9]+)?|hhvm|ext-.+|lib-.+|composer(?:-plugin-api|-runtime-api)?)$/i;

/** composer.json. */
export function readComposerJson(root: Table, reading: ReadingBuilder): void {
  for (const [field, scope] of [
    ['require', 'runtime'],
    ['require-dev', 'development'],
  ] as const) {
    const value = root[field];
    // PHP writes an empty table as an empty list.
    if (value !== undefined && !isTable(value) && listOf(value).length > 0)
      reading.problem(`\`${field}\` is not an object`);
    const lines = reading.lines();
    lines.next(`${JSON.stringify(field)}`);
    for (const [key, spec] of entriesOf(value)) {
      if (platform.test(key)) continue;
      if (typeof spec !== 'string') reading.problem(`a value of \`${field}\` is not a string`);
      else
        reading.declare({
          key,
          name: key.toLowerCase(),
          requirement: spec,
          scope,
          field,
          version: /^v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?$/.exec(spec)?.[0],
          line: lines.next(`${JSON.stringify(key)}:`),
        });
    }
  }
  readRepositories(root.repositories, reading);
  readSettings(reading, root, {
    'config.secure-http': onByDefault,
    'config.disable-tls': looseWhenOn,
    'config.cafile': 'place',
    'config.capath': 'place',
    'config.allow-plugins.*': looseWhenOn,
  });
  if (typeof root.name === 'string') reading.local.add(root.name.toLowerCase());
}

/** `repositories`: a list, or a table by name. */
function readRepositories(repositories: unknown, reading: ReadingBuilder): void {
  for (const [name, value] of Object.entries(repositories ?? {})) {
    const entries =
      isTable(value) && typeof value.type !== 'string' ? entriesOf(value) : [[name, value] as const];
    for (const [key, one] of entries) {
      const table = tableOf(one);
      const type = textOf(table.type);
      if (one === false) reading.source('repositories', `without ${key}`);
      else if (type === 'package')
        for (const item of [table.package].flat()) {
          const { name: packageName, dist, source } = tableOf(item);
          for (const place of [dist, source].map((side) => tableOf(side).url))
            reading.source(`repositories package ${textOf(packageName)}`, place);
        }
      else reading.source(type === 'composer' ? 'repositories' : `repositories ${type}`, table.url);
      if (table.canonical === false)
        reading.source('repositories canonical', `not ${shownPlace(textOf(table.url))}`);
    }
  }
}

/** composer.lock. A package that no package repository announced came from a repository of its own. */
export function readComposerLock(root: Table, reading: ReadingBuilder): void {
  if (!Array.isArray(root.packages)) return void reading.problem('it has no list `packages`');
  const builder = new LockBuilder(reading);
  const lines = reading.lines();
  for (const [field, scope] of [
    ['packages', 'runtime'],
    ['packages-dev', 'development'],
  ] as const) {
    for (const entry of listOf(root[field]).map(tableOf)) {
      const written = textOf(entry.name);
      if (written === '') {
        reading.problem('a package has no name');
        continue;
      }
      const name = written.toLowerCase();
      builder.add(name, {
        name,
        version: textOf(entry.version),
        ...placeOfEntry(entry),
        integrity: fromHex(textOf(tableOf(entry.dist).shasum), 'sha1'),
        license: licenseOf(entry.license),
        scope,
        line: lines.next(`"name": ${JSON.stringify(written)}`),
        asks: Object.keys(tableOf(entry.require)).map((asked) => asked.toLowerCase()),
      });
    }
  }
  builder.finish();
}

function placeOfEntry(entry: Table): Pick<LockEntry, 'source' | 'origin' | 'revision'> {
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
function licenseOf(value: unknown): string | undefined {
  if (typeof value === 'string') return textOf(value) || undefined;
  const all = listOf(value).slice(0, 16).map(textOf);
  if (all.length === 0 || all.includes('')) return undefined;
  return all.length === 1 ? all[0] : `(${all.join(' OR ')})`;
}
