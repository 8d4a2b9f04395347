/* Reads lockfiles of Bun. */
import {
  type Content,
  entriesOf,
  isTable,
  jsonContent,
  listOf,
  type Table,
  tableOf,
  textOf,
} from '../content.ts';
import { fromSri, LockBuilder } from '../lock-builder.ts';
import { hostOf, type LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { npmPlace, npmSource } from './npm-source.ts';
import { npmFields } from './package-json.ts';
import { splitSpec } from './yarn-lock.ts';

/** bun.lock, the text form, versions 0 and 1. */
export function readBunLock(root: Table, reading: ReadingBuilder): void {
  if (!isTable(root.workspaces) || ![0, 1].includes(Number(root.lockfileVersion)))
    return void reading.problem('it is no bun.lock of version 0 or 1');
  reading.knowsDirect = true;
  reading.mirrored = new Map();
  const direct = new Map<string, LockedPackage['scope']>();
  for (const [directory, value] of entriesOf(root.workspaces)) {
    const mirror = new Map<string, string>();
    const workspace = tableOf(value);
    const own = textOf(workspace.name);
    if (own !== '') reading.local.add(own);
    for (const [field, scope] of npmFields)
      for (const [name, spec] of entriesOf(workspace[field])) {
        mirror.set(name, textOf(spec));
        if (!direct.has(name) || scope === 'runtime') direct.set(name, scope);
        if (own !== '') direct.set(`${own}/${name}`, scope);
      }
    reading.mirrored.set(directory, mirror);
  }
  const builder = new LockBuilder(reading);
  const lines = reading.lines();
  lines.next('"packages":');
  for (const [key, value] of entriesOf(root.packages)) {
    const row = listOf(value);
    const [name, place] = splitSpec(textOf(row[0]));
    if (name === '' || place === '') {
      reading.problem('an entry of `packages` cannot be understood');
      continue;
    }
    const line = lines.next(`${JSON.stringify(key)}:`);
    const target = npmSource(name, place);
    if (target.isWorkspace) {
      reading.local.add(name);
      continue;
    }
    const entry = tableOf(row.find(isTable));
    const isRegistry = target.source === 'registry';
    builder.add(key, {
      name: target.name,
      version: isRegistry ? target.requirement : '',
      ...(isRegistry
        ? { source: 'registry', origin: hostOf(textOf(row[1])) }
        : npmPlace(reading, target, place)),
      integrity: fromSri(textOf(row.at(-1))),
      direct: direct.has(key),
      scope: direct.get(key) ?? 'unknown',
      line,
      asks: ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
        Object.keys(tableOf(entry[field])),
      ),
    });
  }
  builder.finish((asked, from) => {
    for (let path = from; ; path = path.slice(0, Math.max(parentEnd(path), 0))) {
      const key = path === '' ? asked : `${path}/${asked}`;
      if (builder.entries.has(key)) return key;
      if (path === '') return undefined;
    }
  });
}

/** Where the last package name of `a/@s/b/c` begins, less the slash. */
function parentEnd(path: string): number {
  const slash = path.lastIndexOf('/');
  const before = path.lastIndexOf('/', slash - 1);
  return path[before + 1] === '@' && slash !== -1 ? before : slash;
}

/** JSON with comments and trailing commas. */
export function jsoncContent(text: string): Content<Table> {
  const token = /"(?:[^"\\]+|\\.)*(?:"|$)|\/\/[^\n]*|\/\*.*?(?:\*\/|$)|,(?=\s*[}\]])/gs;
  return jsonContent(text.replace(token, (part) => (part.startsWith('"') ? part : '')));
}
