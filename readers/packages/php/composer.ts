import { entriesOf, isTable, jsonContent, listOf, type Table, tableOf, textOf } from '../content.ts';
import { fromHex } from '../integrity.ts';
import { LineFinder } from '../line-finder.ts';
import { LockBuilder } from '../lock-builder.ts';
import { cleanUrl } from '../origin.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { looseWhenOn, onByDefault, stateFlag } from '../sources/check-flag.ts';
import { shownPlace } from '../sources/package-source.ts';

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
  readRepositories(content.value, reading);
  if (typeof content.value.name === 'string') reading.local.add(content.value.name.toLowerCase());
}

/** `repositories` in either of its forms, and the switches of `config`. */
function readRepositories({ repositories, config }: Table, reading: ReadingBuilder): void {
  const rows = Array.isArray(repositories)
    ? repositories.map((value, at) => [String(at), value] as const)
    : entriesOf(repositories);
  for (const [name, value] of rows) {
    const entries =
      isTable(value) && typeof value.type !== 'string' ? entriesOf(value) : [[name, value] as const];
    for (const [key, one] of entries) {
      const table = tableOf(one);
      const type = textOf(table.type);
      if (one === false) reading.source('repositories', `without ${key}`);
      else if (type === 'package')
        for (const item of Array.isArray(table.package) ? table.package : [table.package]) {
          const { name: packageName, dist, source } = tableOf(item);
          for (const place of [dist, source].map((side) => tableOf(side).url))
            reading.source(`repositories package ${textOf(packageName)}`, place);
        }
      else reading.source(type === 'composer' ? 'repositories' : `repositories ${type}`, table.url);
      if (table.canonical === false)
        reading.source('repositories canonical', `not ${shownPlace(textOf(table.url))}`);
    }
  }
  const settings = tableOf(config);
  stateFlag(reading, 'config.secure-http', settings['secure-http'], onByDefault);
  stateFlag(reading, 'config.disable-tls', settings['disable-tls'], looseWhenOn);
  for (const key of ['cafile', 'capath']) reading.source(`config.${key}`, settings[key]);
  const plugins = settings['allow-plugins'];
  if (isTable(plugins))
    for (const [name, is] of entriesOf(plugins))
      stateFlag(reading, `config.allow-plugins.${name}`, is, looseWhenOn);
  else stateFlag(reading, 'config.allow-plugins', plugins, looseWhenOn);
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
        license: licenseOf(entry.license),
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
function licenseOf(value: unknown): string | undefined {
  if (typeof value === 'string') return textOf(value) || undefined;
  const all = listOf(value).slice(0, 16).map(textOf);
  if (all.length === 0 || all.includes('')) return undefined;
  return all.length === 1 ? all[0] : `(${all.join(' OR ')})`;
}
