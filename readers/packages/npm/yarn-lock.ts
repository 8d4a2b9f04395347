/* Reads yarn.lock and bun.lock. */
import {
  type Content,
  entriesOf,
  isTable,
  jsonContent,
  keyLines,
  listOf,
  numberedLines,
  type Table,
  tableOf,
  textOf,
  yamlContent,
} from '../content.ts';
import { fromSri, LockBuilder } from '../lock-builder.ts';
import { hostOf, type LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { npmPlace, npmSource } from './npm-source.ts';
import { npmFields } from './package-json.ts';

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

/** yarn.lock of yarn 1 (its own format) and of yarn 2 and later (YAML). */
export function readYarnLock(text: string, reading: ReadingBuilder): void {
  if (/^__metadata:/m.test(text)) {
    const content = yamlContent(text);
    if ('reason' in content) reading.problem(content.reason);
    else readBerry(content.value, reading);
    return;
  }
  const entries = parseClassic(text);
  if (typeof entries === 'string') return void reading.problem(entries);
  if (entries.length === 0 && !/^# yarn lockfile v1$/m.test(text))
    return void reading.problem('it is no yarn.lock of a known version');
  const builder = new LockBuilder(reading);
  const keys = new Map<string, string>();
  for (const { specs, line, fields, asks } of entries) {
    const [first = ''] = specs;
    for (const spec of specs) keys.set(spec, first);
    const target = npmSource(...splitSpec(first));
    const resolved = fields.get('resolved') ?? '';
    const sha1 = target.source === 'registry' ? /#([0-9a-f]{40})$/.exec(resolved)?.[1] : undefined;
    builder.add(first, {
      name: target.name,
      version: fields.get('version') ?? '',
      ...npmPlace(reading, target, resolved),
      integrity:
        fromSri(fields.get('integrity') ?? '') ?? (sha1 ? { algorithm: 'sha1', value: sha1 } : undefined),
      line,
      asks,
    });
  }
  builder.finish((asked) => keys.get(asked));
}

interface ClassicEntry {
  readonly specs: readonly string[];
  readonly line: number;
  readonly fields: Map<string, string>;
  readonly asks: string[];
}

function parseClassic(text: string): readonly ClassicEntry[] | string {
  const entries: ClassicEntry[] = [];
  let open: ClassicEntry | undefined;
  let inList = false;
  for (const [number, raw] of numberedLines(text, '\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '' || line.trimStart().startsWith('#')) continue;
    const indent = line.length - line.trimStart().length;
    const words = wordsOf(line.slice(indent));
    if (words === undefined) return `line ${number} cannot be understood`;
    if (indent === 0) {
      if (!words.isOpen || words.list.length === 0) return `line ${number} cannot be understood`;
      open = { specs: words.list, line: number, fields: new Map(), asks: [] };
      entries.push(open);
      inList = false;
    } else if (open === undefined) return `line ${number} belongs to no package`;
    else if (indent === 2 && words.isOpen) inList = /^(?:optionalD|d)ependencies$/.test(words.list[0] ?? '');
    else if (indent === 2) {
      inList = false;
      open.fields.set(words.list[0] ?? '', words.list[1] ?? '');
    } else if (indent === 4) {
      if (inList) open.asks.push(`${words.list[0]}@${words.list[1]}`);
    } else return `line ${number} cannot be understood`;
  }
  return entries.some(({ fields }) => !fields.has('version')) ? 'a package has no version' : entries;
}

/** Words of a line, quoted or bare, with commas or spaces between; `isOpen` where a colon ends it. */
export function wordsOf(
  line: string,
): { readonly list: readonly string[]; readonly isOpen: boolean } | undefined {
  const list: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (line[at] === '"') {
      let end = at + 1;
      while (end < line.length && line[end] !== '"') end += line[end] === '\\' ? 2 : 1;
      try {
        list.push(JSON.parse(line.slice(at, end + 1)) as string);
      } catch {
        return undefined;
      }
      at = end + 1;
    } else {
      let end = at;
      while (end < line.length && line[end] !== ' ' && line[end] !== ',') end += 1;
      const isLast = end === line.length && line.endsWith(':');
      list.push(line.slice(at, isLast ? end - 1 : end));
      at = isLast ? end - 1 : end;
    }
    if (line[at] === ':' && at === line.length - 1) return { list, isOpen: true };
    const before = at;
    while (line[at] === ',' || line[at] === ' ') at += 1;
    if (at === before && at < line.length) return undefined;
  }
  return { list, isOpen: false };
}

/** `name@range` in two. */
function splitSpec(spec: string): readonly [string, string] {
  const at = spec.indexOf('@', 1);
  return at === -1 ? [spec, ''] : [spec.slice(0, at), spec.slice(at + 1)];
}

function readBerry(root: Table, reading: ReadingBuilder): void {
  reading.knowsDirect = true;
  const lines = keyLines(reading.text);
  const builder = new LockBuilder(reading);
  const keys = new Map<string, string>();
  const direct = new Set<string>();
  const rows: [key: string, specs: readonly string[], asks: readonly string[], entry: Table][] = [];
  for (const [key, value] of entriesOf(root)) {
    if (key === '__metadata') continue;
    if (!isTable(value)) {
      reading.problem('an entry is no mapping');
      continue;
    }
    const specs = key.split(/,\s*/);
    const asks = entriesOf(value.dependencies).map(
      ([name, range]) => `${name}@${withProtocol(textOf(range))}`,
    );
    const resolution = textOf(value.resolution);
    const isWorkspace = /@workspace:/.test(resolution);
    for (const spec of specs) keys.set(spec, isWorkspace ? '' : key);
    if (isWorkspace) {
      reading.local.add(splitSpec(resolution)[0]);
      for (const asked of asks) direct.add(asked);
    } else rows.push([key, specs, asks, value]);
  }
  for (const [key, specs, asks, entry] of rows) {
    const [name, protocol] = splitSpec(textOf(entry.resolution));
    const target = npmSource(name, protocol);
    const origin = target.source === 'path' ? (target.origin ?? '').replace(/[#:].*$/s, '') : target.origin;
    const { source, origin: place } = npmPlace(reading, { ...target, origin: origin ?? '' }, '');
    builder.add(key, {
      name: target.name || splitSpec(specs[0] ?? '')[0],
      version: textOf(entry.version),
      source,
      origin: place,
      revision: source === 'git' ? /commit=([0-9a-f]{7,64})/.exec(protocol)?.[1] : undefined,
      direct: specs.some((spec) => direct.has(spec)),
      isHashed: textOf(entry.checksum) !== '',
      line: lines.get(key),
      asks,
    });
  }
  builder.finish((asked) => keys.get(asked) || undefined);
}

/** Newer locks write the default protocol out, older ones do not. */
function withProtocol(range: string): string {
  return /^[a-z+]+:/.test(range) || range.includes('/') ? range : `npm:${range}`;
}
