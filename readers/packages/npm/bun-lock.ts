import { entriesOf, isTable, jsonContent, listOf, tableOf, textOf } from '../content.ts';
import { fromSri } from '../integrity.ts';
import { LineFinder } from '../line-finder.ts';
import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import { hostOf } from '../origin.ts';
import { placeOf } from '../place-of.ts';
import type { ReadingBuilder } from '../reading.ts';
import { npmSource } from './npm-source.ts';
import { npmFields } from './package-json.ts';
import { splitSpec } from './yarn-lock.ts';

/** bun.lock, the text form (JSON with comments and trailing commas), versions 0 and 1. */
export function readBunLock(text: string, reading: ReadingBuilder): void {
  const content = jsonContent(toJson(text));
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const lock = content.value;
  if (!isTable(lock.workspaces) || ![0, 1].includes(Number(lock.lockfileVersion))) {
    reading.problem('it is no bun.lock of version 0 or 1');
    return;
  }
  reading.knowsDirect = true;
  reading.mirrored = new Map();
  const direct = new Map<string, LockedPackage['scope']>();
  for (const [directory, value] of entriesOf(lock.workspaces)) {
    const mirror = new Map<string, string>();
    const workspace = tableOf(value);
    if (typeof workspace.name === 'string') reading.local.add(workspace.name);
    for (const [field, scope] of npmFields)
      for (const [name, spec] of entriesOf(workspace[field])) {
        mirror.set(name, textOf(spec));
        if (!direct.has(name) || scope === 'runtime') direct.set(name, scope);
        if (textOf(workspace.name) !== '') direct.set(`${textOf(workspace.name)}/${name}`, scope);
      }
    reading.mirrored.set(directory, mirror);
  }
  const builder = new LockBuilder(reading);
  const lines = new LineFinder(text);
  lines.next('"packages":');
  for (const [key, value] of entriesOf(lock.packages)) {
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
      source: target.source,
      origin: isRegistry
        ? hostOf(textOf(row[1]))
        : target.source === 'path'
          ? placeOf(reading.path, target.origin ?? '')
          : target.origin,
      revision: target.source === 'git' ? /#([0-9a-f]{7,64})$/.exec(place)?.[1] : undefined,
      integrity: fromSri(textOf(row.at(-1))),
      direct: direct.has(key),
      scope: direct.get(key) ?? 'unknown',
      line,
      asks: ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
        entriesOf(entry[field]).map(([asked]) => asked),
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

/** Comments and trailing commas taken out of JSON; everything else stays as it is. Linear. */
function toJson(text: string): string {
  const out: string[] = [];
  let at = 0;
  let kept = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at += 1;
      while (at < text.length && text.charCodeAt(at) !== 34) at += text.charCodeAt(at) === 92 ? 2 : 1;
      at += 1;
    } else if (code === 47 && (text[at + 1] === '/' || text[at + 1] === '*')) {
      out.push(text.slice(kept, at));
      const end = text[at + 1] === '/' ? text.indexOf('\n', at) : text.indexOf('*/', at + 2);
      at = end === -1 ? text.length : text[at + 1] === '/' ? end : end + 2;
      kept = at;
    } else if (code === 44) {
      let next = at + 1;
      while (next < text.length && /\s/.test(text[next] ?? '')) next += 1;
      if (text[next] === '}' || text[next] === ']') {
        out.push(text.slice(kept, at));
        kept = at + 1;
      }
      at += 1;
    } else at += 1;
  }
  out.push(text.slice(kept));
  return out.join('');
}
