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
import { fromHex, fromSri, LockBuilder } from '../lock-builder.ts';
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

/** yarn.lock of yarn 1, in its own format, and of yarn 2 and later, in YAML. Both are a table by `a@1, a@2`. */
export function readYarnLock(text: string, reading: ReadingBuilder): void {
  const isBerry = /^__metadata:/m.test(text);
  const yaml = isBerry ? { value: text } : classicAsYaml(text);
  if ('reason' in yaml) return void reading.problem(yaml.reason);
  const content = yamlContent(yaml.value);
  if ('reason' in content) return void reading.problem(content.reason);
  reading.knowsDirect = isBerry;
  const lines = keyLines(yaml.value);
  const builder = new LockBuilder(reading);
  const keys = new Map<string, string>();
  const direct = new Set<string>();
  const rows: [key: string, specs: readonly string[], asks: readonly string[], entry: Table][] = [];
  for (const [key, value] of entriesOf(content.value)) {
    if (key === '__metadata') continue;
    if (!isTable(value) || textOf(value.version) === '') {
      reading.problem('an entry is no package with a version');
      continue;
    }
    const specs = key.split(/,\s*/);
    const asks = ['dependencies', 'optionalDependencies'].flatMap((field) =>
      entriesOf(value[field]).map(([name, range]) => `${name}@${withProtocol(textOf(range), isBerry)}`),
    );
    const isWorkspace = /@workspace:/.test(textOf(value.resolution));
    for (const spec of specs) keys.set(spec, isWorkspace ? '' : key);
    if (isWorkspace) {
      reading.local.add(splitSpec(textOf(value.resolution))[0]);
      for (const asked of asks) direct.add(asked);
    } else rows.push([key, specs, asks, value]);
  }
  for (const [key, specs, asks, { resolution, resolved, version, integrity, checksum }] of rows) {
    const [first = ''] = specs;
    const [name, protocol] = splitSpec(isBerry ? textOf(resolution) : first);
    const target = npmSource(name || splitSpec(first)[0], protocol);
    const origin =
      isBerry && target.source === 'path' ? target.origin?.replace(/[#:].*$/s, '') : target.origin;
    const place = npmPlace(
      reading,
      { ...target, ...(origin === undefined ? {} : { origin }) },
      textOf(resolved),
    );
    const sha1 = place.source === 'registry' ? /#([0-9a-f]{40})$/.exec(textOf(resolved))?.[1] : undefined;
    const found = fromSri(textOf(integrity)) ?? fromHex(sha1 ?? '', 'sha1');
    builder.add(key, {
      name: target.name,
      version: textOf(version),
      ...place,
      revision: place.revision ?? /commit=([0-9a-f]{7,64})/.exec(protocol)?.[1],
      direct: specs.some((spec) => direct.has(spec)),
      integrity: found,
      isHashed: found !== undefined || textOf(checksum) !== '',
      line: lines.get(key),
      asks,
    });
  }
  builder.finish((asked) => keys.get(asked) || undefined);
}

/** Newer locks of yarn 2 write the default protocol out, older ones do not. */
function withProtocol(range: string, isBerry: boolean): string {
  return !isBerry || /^[a-z+]+:/.test(range) || range.includes('/') ? range : `npm:${range}`;
}

/** The format of yarn 1 is YAML but for its lists of keys, and for values without a colon before them. */
function classicAsYaml(text: string): Content<string> {
  const yaml: string[] = [];
  for (const [number, raw] of numberedLines(text)) {
    const line = raw.trim();
    const words = line === '' || line.startsWith('#') ? { list: [], isOpen: true } : wordsOf(line);
    if (words === undefined) return { reason: `line ${number} cannot be understood` };
    const { list, isOpen } = words;
    const [key = '', value = ''] = isOpen ? [list.join(', ')] : list;
    const row = `${JSON.stringify(key)}:${isOpen ? '' : ` ${JSON.stringify(value)}`}`;
    yaml.push(list.length === 0 ? '' : `${/^ */.exec(raw)?.[0]}${row}`);
  }
  if (yaml.some((row) => row !== '')) return { value: yaml.join('\n') };
  return /^# yarn lockfile v1$/m.test(text)
    ? { value: '{}' }
    : { reason: 'it is no yarn.lock of a known version' };
}

/** Words of a line, quoted or bare, with commas or spaces between; `isOpen` where a colon ends it. */
export function wordsOf(
  line: string,
): { readonly list: readonly string[]; readonly isOpen: boolean } | undefined {
  const list: string[] = [];
  const isOpen = line.endsWith(':');
  let length = Number(isOpen);
  for (const [whole, quoted, bare = ''] of line.matchAll(
    /(?:("(?:[^"\\]|\\.)*")|((?!:$)[^ ,"][^ ,]*?))(?:[ ,]+|(?=:?$))/gy,
  )) {
    length += whole.length;
    try {
      list.push(quoted === undefined ? bare : String(JSON.parse(quoted)));
    } catch {
      return undefined;
    }
  }
  return length === line.length && list.length > 0 ? { list, isOpen } : undefined;
}

/** `name@range` in two. */
function splitSpec(spec: string): readonly [string, string] {
  const at = spec.indexOf('@', 1);
  return at === -1 ? [spec, ''] : [spec.slice(0, at), spec.slice(at + 1)];
}
