/* Reads the files of Ruby's Bundler. */
import { numberedLines } from './content.ts';
import { fromHex, LockBuilder, type LockEntry } from './lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from './locked-package.ts';
import type { ReadingBuilder, SourceKind } from './reading.ts';
import { looseWhenOn, offByDefault, stateSetting } from './reading.ts';
import { digestOf } from './sources/package-source.ts';

type Scope = LockedPackage['scope'];

/** What a block, or the options of a call, say of the gems in it. */
interface Block {
  readonly scope?: Scope;
  readonly source?: SourceKind;
  readonly origin?: string;
}

const gemCall = /^(gem|plugin)[\s(]+(['"])([^'"#{}]+)\2(.*)$/;
const gemspecCall = /\.(add_(?:runtime_|development_)?dependency)[\s(]+(['"])([^'"#{}]+)\2(.*)$/;
const unreadCall =
  /\bgem[\s(]|\.add_(?:runtime_|development_)?dependency\b|^(?:eval_gemfile|instance_eval|eval)\b|\bload\s*[('"]/;

/**
 * Reads Gemfile, gems.rb and *.gemspec. These are Ruby programs: writ reads calls with literal names on separate
 * lines. It follows blocks of `group`, `git`, `github`, `path` and `source`. A call that it cannot read is a problem.
 */
export function readGemfile(text: string, reading: ReadingBuilder): void {
  reading.note(
    'it is a Ruby program; literal `gem` and `add_dependency` calls in it are read, nothing is executed',
  );
  const code = text.replace(/^__END__\r?$.*/ms, '').replace(/^=begin\b.*?(?:^=end\b|$(?!.))/gms, blanked);
  // The block of a `git_source` call defines the address of a short name.
  for (const { 0: call, index } of code.matchAll(
    /^[ \t]*git_source\b(?:[^\n]*\bdo\b.*?(?:^[ \t]*end\b|$(?!.))|[^\n]*)/gms,
  ))
    reading.source('git_source', `text ${digestOf(call)}`, { line: code.slice(0, index).split('\n').length });
  const blocks: Block[] = [];
  for (const [number, raw] of logicalLines(code)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    readSource(line, number, reading);
    const [, call = '', , name = '', options = ''] = gemCall.exec(line) ?? gemspecCall.exec(line) ?? [];
    if (
      /\bdo\b\s*(?:\|[^|]*\|)?\s*(?:#.*)?$/.test(line) ||
      /^(?:if|unless|case|begin|while|def|class|module)\b/.test(line)
    )
      blocks.push(blockOf(line, reading));
    else if (/^end\b/.test(line)) blocks.pop();
    else if (name !== '') declare(reading, call, name, options, number, blocks);
    else if (unreadCall.test(line.replace(/(['"])(?:(?!\1).)*\1/g, "''")))
      reading.problem(`line ${number} names a gem in a form that is not read`);
  }
}

function blanked(text: string): string {
  return text.replace(/[^\n]+/g, ' ');
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
    [`source of ${gemCall.exec(line)?.[3] ?? 'a gem'}`, option],
  ] as const) {
    if (value === undefined) continue;
    const literal = /^[\s(]*(?:(['"])([^'"#]*)\1|:(\w+))/.exec(value);
    reading.source(key, literal?.[2] ?? literal?.[3] ?? `text ${digestOf(value)}`, { line: number });
  }
}

function blockOf(line: string, reading: ReadingBuilder): Block {
  const [, call = '', rest = ''] = /^(group|git|github|path)\b[\s(]*(.*)$/.exec(line) ?? [];
  if (call === 'group') return { scope: /:?(?:default|production)\b/.test(rest) ? 'runtime' : 'development' };
  return call === '' ? {} : placeOf(call, /['"]([^'"]+)['"]/.exec(rest)?.[1] ?? '', reading);
}

function placeOf(kind: string, place: string, reading: ReadingBuilder): Block {
  if (kind === 'path') return { source: 'path', origin: reading.placeOf(place) };
  return { source: 'git', origin: cleanUrl(kind === 'git' ? place : `${kind}:${place}`) };
}

function declare(
  reading: ReadingBuilder,
  call: string,
  name: string,
  options: string,
  line: number,
  blocks: readonly Block[],
): void {
  const group = /(?:\bgroups?:|:groups?\s*=>)\s*(\[[^\]]*\]|:\w+)/.exec(options)?.[1];
  const [, kind, old, , given = ''] =
    /(?:\b(git|github|gist|bitbucket|gitlab|path):|:(git|github|gist|bitbucket|gitlab|path)\s*=>)\s*(['"])([^'"]+)\3/.exec(
      options,
    ) ?? [];
  const hosted = kind ?? old;
  const around = call === 'gem' ? blocks : [];
  const place = hosted
    ? placeOf(hosted, given, reading)
    : around.findLast(({ source }) => source !== undefined);
  const requirement = [...options.replace(/\b\w+:.*$|:\w+\s*=>.*$/s, '').matchAll(/(['"])([^'"]*)\1/g)]
    .map((match) => match[2])
    .join(', ');
  const inBlock = around.findLast(({ scope }) => scope !== undefined)?.scope ?? 'runtime';
  const ofGem = group === undefined ? inBlock : /default|production/.test(group) ? 'runtime' : 'development';
  const isOfTools = call === 'plugin' || call === 'add_development_dependency';
  reading.declare({
    key: name,
    name,
    requirement,
    scope: isOfTools ? 'development' : call === 'gem' ? ofGem : 'runtime',
    field: call === 'gem' || call === 'plugin' ? call : 'add_dependency',
    line,
    source: place?.source ?? 'registry',
    origin: place?.origin,
    version: /^(?:=\s*)?(\d[\w.]*)$/.exec(requirement)?.[1],
    needNotBeLocked: call === 'plugin',
  });
}

/** Where the gems of a section come from; sections without gems have none. */
const sections: Readonly<Record<string, SourceKind | undefined>> = {
  GEM: 'registry',
  GIT: 'git',
  PATH: 'path',
  'PLUGIN SOURCE': 'git',
  PLATFORMS: undefined,
  DEPENDENCIES: undefined,
  CHECKSUMS: undefined,
  'RUBY VERSION': undefined,
  'BUNDLED WITH': undefined,
};

export function readGemfileLock(text: string, reading: ReadingBuilder): void {
  if (/^(?:<{7}|>{7}|={7})(?: |$)/m.test(text)) return void reading.problem('it holds merge conflicts');
  if (!/^(?:GEM|GIT|PATH)$/m.test(text)) return void reading.problem('it has no section of gems');
  reading.knowsDirect = true;
  const mirror = new Map<string, string>();
  const rows: (LockEntry & { readonly key: string; readonly asks: string[] })[] = [];
  const checksums = new Map<string, string>();
  let section = '';
  let fields = new Map<string, string>();
  for (const [number, raw] of numberedLines(text, '\n')) {
    const line = raw.trimEnd();
    if (line === '') continue;
    if (!line.startsWith(' ')) {
      if (!Object.hasOwn(sections, line))
        reading.problem(`line ${number} begins a section that is not known`);
      section = line;
      fields = new Map();
      continue;
    }
    const source = sections[section];
    const [, field, value = ''] = /^ {2}(\w+):(?: (.*))?$/.exec(line) ?? [];
    const spec = /^( +)([^\s(!]+)(?: \(([^()]*)\))?!?(?: (.*))?$/.exec(line);
    const [, indent = '', name = '', detail = '', rest = ''] = spec ?? [];
    if (field !== undefined && section !== 'DEPENDENCIES') fields.set(field, value);
    else if (!spec) {
      if (source || section === 'DEPENDENCIES') reading.problem(`line ${number} cannot be understood`);
    } else if (section === 'DEPENDENCIES') mirror.set(name, detail);
    else if (section === 'CHECKSUMS') checksums.set(`${name} ${detail}`, rest.split(',')[0] ?? '');
    else if (indent.length === 6) rows.at(-1)?.asks.push(name);
    else if (source === 'path' && /^\.?$/.test(fields.get('remote') ?? '')) reading.local.add(name);
    else if (source) {
      const remote = fields.get('remote') ?? '';
      const [version = '', platform] = detail.split(/-(.*)/s);
      const origin = {
        registry: hostOf,
        path: (at: string) => reading.placeOf(at),
        git: cleanUrl,
        url: cleanUrl,
      };
      rows.push({
        key: `${name} ${detail}`,
        name,
        version,
        qualifiers: { platform },
        source,
        origin: origin[source](remote),
        revision: source === 'git' ? fields.get('revision') : undefined,
        line: number,
        asks: [],
      });
    }
  }
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  for (const { key, ...entry } of rows) {
    byName.set(entry.name, byName.get(entry.name) ?? key);
    const integrity = fromHex(checksums.get(key) ?? '');
    builder.add(key, { ...entry, integrity, direct: mirror.has(entry.name) });
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
      stateSetting(reading, key, value, looseWhenOn, number);
    else if (/^BUNDLE_(?:FROZEN|DEPLOYMENT)$/.test(key))
      stateSetting(reading, key, value, offByDefault, number);
  }
}
