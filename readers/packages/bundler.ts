/* Reads the files of Ruby's Bundler. */
import { numberedLines } from './content.ts';
import { fromHex, LockBuilder, type LockEntry } from './lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from './locked-package.ts';
import type { ReadingBuilder, SourceKind } from './reading.ts';
import { looseWhenOn, offByDefault, stateFlag } from './reading.ts';
import { digestOf } from './sources/package-source.ts';

interface Block {
  readonly scope?: LockedPackage['scope'];
  readonly source?: SourceKind;
  readonly origin?: string;
}

const gemCall = /^gem[\s(]+(['"])([^'"#{}]+)\1(.*)$/;
const gemspecCall = /\.add_(runtime_|development_)?dependency[\s(]+(['"])([^'"#{}]+)\2(.*)$/;

/**
 * Reads Gemfile, gems.rb and *.gemspec. These are Ruby programs: writ reads calls with literal names on separate
 * lines. It follows blocks of `group`, `git`, `github`, `path` and `source`. A call that it cannot read is a problem.
 */
export function readGemfile(text: string, reading: ReadingBuilder): void {
  reading.note(
    'it is a Ruby program; literal `gem` and `add_dependency` calls in it are read, nothing is executed',
  );
  const blocks: Block[] = [];
  let comment = false;
  /** A `git_source` call; its block defines the address of a short name. */
  let hosting: { text: string; readonly line: number } | undefined;
  for (const [number, raw] of logicalLines(text)) {
    if (raw.startsWith('=begin')) comment = true;
    if (raw.startsWith('=end')) {
      comment = false;
      continue;
    }
    const line = raw.trim();
    if (comment || line === '' || line.startsWith('#')) continue;
    if (line === '__END__') break;
    if (hosting !== undefined) hosting.text += line;
    else if (/^git_source\b/.test(line)) hosting = { text: line, line: number };
    if (hosting && (/^end\b/.test(line) || !/\bdo\b/.test(hosting.text))) {
      reading.source('git_source', `text ${digestOf(hosting.text)}`, { line: hosting.line });
      hosting = undefined;
    }
    readSource(line, number, reading);
    const opens =
      /\bdo\b\s*(?:\|[^|]*\|)?\s*(?:#.*)?$/.test(line) ||
      /^(?:if|unless|case|begin|while|def|class|module)\b/.test(line);
    if (opens) {
      blocks.push(blockOf(line, reading));
      continue;
    }
    if (/^end\b/.test(line)) {
      blocks.pop();
      continue;
    }
    const gem = gemCall.exec(line);
    const plugin = /^plugin[\s(]+(['"])([^'"#{}]+)\1(.*)$/.exec(line);
    if (plugin) declare(reading, plugin[2] ?? '', plugin[3] ?? '', number, 'development', [], 'plugin');
    const inSpec = gem ? null : gemspecCall.exec(line);
    if (gem) declare(reading, gem[2] ?? '', gem[3] ?? '', number, scopeOf(blocks, gem[3] ?? ''), blocks);
    else if (inSpec) {
      const scope = inSpec[1] === 'development_' ? 'development' : 'runtime';
      declare(reading, inSpec[3] ?? '', inSpec[4] ?? '', number, scope, []);
    } else if (
      /\bgem[\s(]|\.add_(?:runtime_|development_)?dependency\b|^(?:eval_gemfile|instance_eval|eval)\b|\bload\s*[('"]/.test(
        line.replace(/(['"])(?:(?!\1).)*\1/g, "''"),
      )
    )
      reading.problem(`line ${number} names a gem in a form that is not read`);
  }
}

const maxJoined = 65_536;

/** Yields lines with the number of their first one; a call with arguments on later lines is one line. */
function* logicalLines(text: string): Generator<readonly [number, string]> {
  let joined = '';
  let first = 0;
  for (const [number, raw] of numberedLines(text)) {
    if (joined === '') first = number;
    const code = raw.trimStart().startsWith('#') ? '' : raw.replace(/\s#(?!\{)[^'"]*$/, '');
    if (joined !== '' && code.trim() === '') continue;
    const isOpen = /(?:[,(\\]|=>|\w:)\s*$/.test(code);
    const part = isOpen ? code.replace(/\\\s*$/, '') : code === '' ? raw : code;
    joined = joined === '' ? part : `${joined} ${part.trim()}`;
    if (isOpen && joined.length < maxJoined) continue;
    yield [first, joined];
    joined = '';
  }
  if (joined !== '') yield [first, joined];
}

/** Reads `source` of the file, of a block and of one gem; a non-literal value is compared by its text. */
function readSource(line: string, number: number, reading: ReadingBuilder): void {
  const call = /^source\b\s*(?!=)(.*)$/.exec(line)?.[1];
  const option = /(?:\bsource:|:source\s*=>)\s*(.*)$/.exec(line)?.[1];
  for (const [key, value] of [
    ['source', call],
    [`source of ${gemCall.exec(line)?.[2] ?? 'a gem'}`, option],
  ] as const) {
    if (value === undefined) continue;
    const literal = /^[\s(]*(?:(['"])([^'"#]*)\1|:(\w+))/.exec(value);
    reading.source(key, literal?.[2] ?? literal?.[3] ?? `text ${digestOf(value)}`, { line: number });
  }
}

function blockOf(line: string, reading: ReadingBuilder): Block {
  const call = /^(group|git|github|path|source)\b[\s(]*(.*)$/.exec(line);
  const first = /['"]([^'"]+)['"]/.exec(call?.[2] ?? '')?.[1] ?? '';
  if (call?.[1] === 'group')
    return { scope: /:?(?:default|production)\b/.test(call[2] ?? '') ? 'runtime' : 'development' };
  if (call?.[1] === 'git') return { source: 'git', origin: cleanUrl(first) };
  if (call?.[1] === 'github') return { source: 'git', origin: cleanUrl(`github:${first}`) };
  if (call?.[1] === 'path') return { source: 'path', origin: reading.placeOf(first) };
  return {};
}

function scopeOf(blocks: readonly Block[], options: string): LockedPackage['scope'] {
  const group = /(?:\bgroups?:|:groups?\s*=>)\s*(\[[^\]]*\]|:\w+)/.exec(options)?.[1];
  if (group !== undefined) return /default|production/.test(group) ? 'runtime' : 'development';
  return blocks.findLast(({ scope }) => scope !== undefined)?.scope ?? 'runtime';
}

function declare(
  reading: ReadingBuilder,
  name: string,
  options: string,
  line: number,
  scope: LockedPackage['scope'],
  blocks: readonly Block[],
  field = reading.path.endsWith('.gemspec') ? 'add_dependency' : 'gem',
): void {
  const inBlock = blocks.findLast(({ source }) => source !== undefined);
  const place = optionSource(options, reading) ?? inBlock ?? {};
  const requirement = [...options.replace(/\b\w+:.*$|:\w+\s*=>.*$/s, '').matchAll(/(['"])([^'"]*)\1/g)]
    .map((match) => match[2])
    .join(', ');
  const version = /^(?:=\s*)?(\d[\w.]*)$/.exec(requirement)?.[1];
  reading.declare({
    key: name,
    name,
    requirement,
    scope,
    field,
    line,
    source: place.source ?? 'registry',
    origin: place.origin,
    version: place.source ? undefined : version,
    needNotBeLocked: field === 'plugin' || place.source === 'path',
  });
}

function optionSource(options: string, reading: ReadingBuilder): Block | undefined {
  const found =
    /(?:\b(git|github|gist|bitbucket|gitlab|path):|:(git|github|gist|bitbucket|gitlab|path)\s*=>)\s*(['"])([^'"]+)\3/.exec(
      options,
    );
  const kind = found?.[1] ?? found?.[2];
  const place = found?.[4] ?? '';
  if (kind === undefined) return undefined;
  if (kind === 'path') return { source: 'path', origin: reading.placeOf(place) };
  return { source: 'git', origin: cleanUrl(kind === 'git' ? place : `${kind}:${place}`) };
}

const sections = new Set([
  'GIT',
  'PATH',
  'GEM',
  'PLUGIN SOURCE',
  'PLATFORMS',
  'DEPENDENCIES',
  'CHECKSUMS',
  'RUBY VERSION',
  'BUNDLED WITH',
]);

/** Gemfile.lock and gems.locked. */
export function readGemfileLock(text: string, reading: ReadingBuilder): void {
  if (/^(?:<{7}|>{7}|={7})(?: |$)/m.test(text)) {
    reading.problem('it holds merge conflicts');
    return;
  }
  if (!/^(?:GEM|GIT|PATH)$/m.test(text)) {
    reading.problem('it has no section of gems');
    return;
  }
  reading.knowsDirect = true;
  const mirror = new Map<string, string>();
  const rows: { key: string; entry: LockEntry; asks: string[] }[] = [];
  const checksums = new Map<string, string>();
  let section = '';
  let remote = '';
  let revision = '';
  for (const [number, raw] of numberedLines(text, '\n')) {
    const line = raw.trimEnd();
    if (line === '') continue;
    if (!line.startsWith(' ')) {
      if (!sections.has(line)) reading.problem(`line ${number} begins a section that is not known`);
      section = line;
      remote = '';
      revision = '';
      continue;
    }
    const field = /^ {2}(\w+):(?: (.*))?$/.exec(line);
    if (field && section !== 'DEPENDENCIES') {
      if (field[1] === 'remote') remote = field[2] ?? '';
      if (field[1] === 'revision') revision = field[2] ?? '';
      continue;
    }
    const spec = /^( +)([^\s(!]+)(?: \(([^()]*)\))?(!)?(?: (.*))?$/.exec(line);
    if (!spec) {
      if (section === 'GEM' || section === 'GIT' || section === 'PATH' || section === 'DEPENDENCIES')
        reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    const [, indent = '', name = '', detail = '', , rest = ''] = spec;
    if (section === 'DEPENDENCIES') mirror.set(name, detail);
    else if (section === 'CHECKSUMS') checksums.set(`${name} ${detail}`, rest.split(',')[0] ?? '');
    else if (['GEM', 'GIT', 'PATH', 'PLUGIN SOURCE'].includes(section)) {
      if (indent.length === 6) rows.at(-1)?.asks.push(name);
      else {
        const dash = detail.indexOf('-');
        const source = section === 'GEM' ? 'registry' : section === 'PATH' ? 'path' : 'git';
        if (source === 'path' && (remote === '.' || remote === '')) reading.local.add(name);
        else
          rows.push({
            key: `${name} ${detail}`,
            asks: [],
            entry: {
              name,
              version: dash === -1 ? detail : detail.slice(0, dash),
              qualifiers: { platform: dash === -1 ? undefined : detail.slice(dash + 1) },
              source,
              origin:
                source === 'registry'
                  ? hostOf(remote)
                  : source === 'path'
                    ? reading.placeOf(remote)
                    : cleanUrl(remote),
              revision: source === 'git' ? revision : undefined,
              line: number,
              asks: [],
            },
          });
      }
    }
  }
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  for (const { key, entry, asks } of rows) {
    byName.set(entry.name, byName.get(entry.name) ?? key);
    const integrity = fromHex(checksums.get(key) ?? '');
    builder.add(key, { ...entry, asks, integrity, direct: mirror.has(entry.name) });
  }
  reading.mirrored = new Map([['', mirror]]);
  builder.finish((asked) => byName.get(asked));
}

/** `.bundle/config`: mirrors, local copies instead of repositories, and switches that turn checks off. */
export function readBundleConfig(text: string, reading: ReadingBuilder): void {
  for (const [number, raw] of numberedLines(text, /\r\n|\r|\n/)) {
    const found = /^\s*["']?(BUNDLE_\S*?)["']?\s*:\s+(.*)$/i.exec(raw);
    if (!found) continue;
    const key = (found[1] ?? '').toUpperCase();
    const value = (found[2] ?? '').trim().replace(/^(['"])(.*)\1$/, '$2');
    if (/^BUNDLE_(?:MIRROR__|LOCAL__|GEMFILE$|SSL_CA_CERT$|SSL_VERIFY_MODE$|PLUGINS?__|REDIRECT$)/.test(key))
      reading.source(key, value, { line: number });
    else if (key === 'BUNDLE_DISABLE_CHECKSUM_VALIDATION')
      stateFlag(reading, key, value, looseWhenOn, number);
    else if (/^BUNDLE_(?:FROZEN|DEPLOYMENT)$/.test(key)) stateFlag(reading, key, value, offByDefault, number);
  }
}
