/* Reads pip requirements files. */
import { fromHex } from '../lock-builder.ts';
import { cleanUrl } from '../locked-package.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';

const maxLine = 64 * 1024;
const harmless = /^--(?:pre|prefer-binary|no-binary|only-binary|use-feature|config-settings?|global-option)$/;
const longOf: Readonly<Record<string, string>> = {
  '-r': '--requirement',
  '-c': '--constraint',
  '-e': '--editable',
  '-i': '--index-url',
  '-f': '--find-links',
  '--pypi-url': '--index-url',
};
const takesNone: ReadonlySet<string> = new Set([
  '--no-index',
  '--pre',
  '--prefer-binary',
  '--require-hashes',
]);

/**
 * A pip requirements file: requirements with extras, markers and hashes, URLs, paths, `-e`, `-r`, `-c`, options,
 * continuation lines. Environment variables in a requirement cannot be known and are a problem.
 */
export function readRequirements(text: string, reading: ReadingBuilder): void {
  readPipArguments(text, reading, true);
}

/** The same for text from another file: line numbers of the text do not apply. */
export function readPipArguments(text: string, reading: ReadingBuilder, hasLines = false): void {
  const includes: string[] = [];
  const constraints: string[] = [];
  const isConstraints = reading.kind.id === 'constraints.txt';
  for (const { line, number: at, via } of logicalLines(text)) {
    const number = hasLines ? at : undefined;
    if (line.length > maxLine) {
      reading.problem(`line ${at} is longer than ${maxLine}`);
      continue;
    }
    if (!line.startsWith('-')) {
      readOne(line, number, via, isConstraints, reading);
      continue;
    }
    for (const [option, value] of optionsOf(line)) {
      const name = Object.hasOwn(longOf, option) ? longOf[option] : option;
      if (name === '--requirement') includes.push(value);
      else if (name === '--constraint') constraints.push(value);
      else if (name === '--editable') readOne(value, number, via, isConstraints, reading);
      else if (name === '--require-hashes') reading.source(name, 'true', { line: number, counts: 'lost' });
      else if (indexOptions.has(name?.slice(2) ?? ''))
        reading.source(name?.slice(2) ?? '', value || 'true', { line: number });
      else if (!harmless.test(option)) reading.problem(`line ${at} holds an option that is not known`);
    }
  }
  reading.includes = [...reading.includes, ...includes];
  reading.constraints = [...reading.constraints, ...constraints];
}

/**
 * Returns the options of one line with their values: `-i url`, `-iurl`, `--index-url=url`, several in a row. Removes
 * quotes as a shell does.
 */
function optionsOf(line: string): readonly (readonly [string, string])[] {
  const words = [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+|["']/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  const found: [string, string][] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, option = word, joined] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? /^(-[a-z])(.+)$/s.exec(word) ?? [];
    if (joined !== undefined) found.push([option, joined.replace(/^=/, '')]);
    else if (takesNone.has(option)) found.push([option, '']);
    else {
      found.push([option, words[at + 1] ?? '']);
      at += 1;
    }
  }
  return found;
}

function readOne(
  text: string,
  line: number | undefined,
  via: readonly string[],
  isConstraint: boolean,
  reading: ReadingBuilder,
): void {
  const hashes = [...text.matchAll(/\s--hash[=\s]([^\s]+)/g)].map((match) => match[1] ?? '');
  const bare = text.replace(/\s--(?:hash|global-option|config-settings|install-option)[=\s].*$/s, '').trim();
  if (/\$\{?\w/.test(bare)) {
    reading.problem(`${line === undefined ? 'a requirement' : `line ${line}`} holds a variable`);
    return;
  }
  const requirement = parseRequirement(bare) ?? fromPlace(bare);
  if (requirement === undefined) {
    reading.problem(`${line === undefined ? 'a requirement' : `line ${line}`} cannot be understood`);
    return;
  }
  const { key, name, source, origin, version } = requirement;
  if (hashes.length === 1 && version !== undefined) {
    const integrity = fromHex(hashes[0] ?? '');
    reading.hashes ??= new Map();
    if (integrity) reading.hashes.set(`${name}@${version}`, integrity);
  }
  reading.declare({
    key,
    name,
    requirement: requirement.requirement,
    scope: /(?:^|[^a-z])(?:dev|test|tests|lint|docs?|ci)(?:[^a-z]|$)/i.test(reading.path)
      ? 'development'
      : 'runtime',
    field: isConstraint ? 'constraint' : 'requirements',
    source,
    line,
    version,
    origin,
    via: via.length > 0 ? via : undefined,
    isOverride: isConstraint,
    isHashed: hashes.length > 0,
    needNotBeLocked: true,
  });
}

/** A URL, a wheel or a directory without `name @`. */
function fromPlace(text: string): ReturnType<typeof parseRequirement> {
  const place = text.split(/\s*;\s|\s/)[0] ?? '';
  const egg = /[#&]egg=([A-Za-z0-9][\w.-]*)/.exec(place)?.[1];
  const file = /([A-Za-z0-9][\w.]*)-(\d[\w.!+]*)(?:-[\w.-]+)?\.(?:whl|tar\.gz|zip|tar\.bz2)(?:[#?]|$)/.exec(
    place,
  );
  if (/^[a-z+]+:\/\/|^git@/i.test(place)) {
    const last =
      place
        .split(/[#?]/)[0]
        ?.replace(/@[^/]*$/, '')
        .replace(/\.git$/, '')
        .split('/')
        .at(-1) ?? '';
    const key = egg ?? file?.[1] ?? last;
    return /^[A-Za-z0-9]/.test(key)
      ? { key, name: pythonName(key), requirement: place, ...urlSource(place) }
      : undefined;
  }
  const path = /^(?:\.{0,2}\/|\.)[^\s]*$|\.(?:whl|tar\.gz|zip)$/.test(place)
    ? place.replace(/\[[^\]]*\]$/, '')
    : undefined;
  if (path === undefined) return undefined;
  const key =
    egg ??
    file?.[1] ??
    path
      .split('/')
      .filter((part) => /[A-Za-z0-9]/.test(part))
      .at(-1) ??
    'project';
  return { key, name: pythonName(key), requirement: path, source: 'path', origin: path };
}

/** The line breaks of Python's `splitlines`: otherwise a comment could hide text that pip reads as a separate line. */
const pipLineBreak = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

interface LogicalLine {
  readonly line: string;
  readonly number: number;
  /** The requiring packages, if pip-compile or uv lists them below the requirement. */
  readonly via: readonly string[];
}

function logicalLines(text: string): readonly LogicalLine[] {
  const found: { line: string; number: number; via: string[] }[] = [];
  let parts: string[] = [];
  let start = 0;
  let number = 0;
  let inVia = false;
  for (const raw of text.split(pipLineBreak)) {
    number += 1;
    const comment = /^\s*#\s*(via\b)?\s*(.*)$/.exec(raw);
    const last = found.at(-1);
    if (comment && parts.length === 0) {
      const isIndented = raw.startsWith(' ');
      inVia = isIndented && (comment[1] !== undefined || inVia);
      const words = (comment[2] ?? '').replace(/,/g, ' ').split(/\s+/);
      if (inVia && last)
        last.via.push(...(/^-[rc]$/.test(words[0] ?? '') ? ['-r'] : words.filter((word) => word !== '')));
      continue;
    }
    inVia = false;
    const inline = /\s#\s*via\s+(.*)$/.exec(raw)?.[1];
    const code = raw.replace(/(?:^|\s)#.*$/, '');
    if (parts.length === 0) start = number;
    if (code.endsWith('\\')) {
      parts.push(code.slice(0, -1));
      continue;
    }
    parts.push(code);
    const line = parts.join(' ').trim();
    parts = [];
    if (line !== '')
      found.push({
        line,
        number: start,
        via: inline ? inline.split(/[\s,]+/).filter((word) => word !== '') : [],
      });
  }
  if (parts.length > 0) found.push({ line: parts.join(' ').trim(), number: start, via: [] });
  return found.filter(({ line }) => line !== '');
}

/** A project name as PEP 503 compares it. */
export function pythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** One requirement of PEP 508, or of pip's wider forms. */
interface PythonRequirement {
  readonly key: string;
  readonly name: string;
  /** Version specifiers or URL, without extras and marker. */
  readonly requirement: string;
  readonly version?: string;
  readonly source: SourceKind;
  readonly origin?: string;
}

/** Reads `name[extra] (==1.0); marker` and `name @ url ; marker`; `undefined` for anything else. */
export function parseRequirement(text: string): PythonRequirement | undefined {
  const named = /^\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*/.exec(text);
  if (!named?.[1]) return undefined;
  const key = named[1];
  const name = pythonName(key);
  const rest = text.slice(named[0].length);
  if (rest.startsWith('@')) {
    const url = rest.slice(1).trim().split(/\s+/)[0] ?? '';
    return url === '' ? undefined : { key, name, requirement: url, ...urlSource(url) };
  }
  const specifiers = (rest.split(';')[0] ?? '')
    .trim()
    .replace(/^\((.*)\)$/s, '$1')
    .trim();
  if (specifiers !== '' && !/^(?:(?:===?|~=|!=|<=?|>=?)\s*[\w.*+!-]+\s*(?:,\s*|$))+$/.test(specifiers))
    return undefined;
  const version = exactPythonVersion(specifiers);
  return { key, name, requirement: specifiers, source: 'registry', ...(version ? { version } : {}) };
}

/** The one version that specifiers admit, where it is one. */
function exactPythonVersion(specifiers: string): string | undefined {
  return /^===?\s*([\w.+!-]+)$/.exec(specifiers.trim())?.[1];
}

/** Where a URL requirement comes from. */
function urlSource(url: string): { readonly source: SourceKind; readonly origin?: string } {
  if (/^(?:git|hg|svn|bzr)\+/.test(url) || /^(?:ssh|git):\/\//.test(url)) {
    const bare = url.replace(/@[^/@]*(?=#|$)/, '');
    return { source: 'git', origin: cleanUrl(bare.replace(/(\.git)@[^#]*/, '$1')) };
  }
  if (/^file:/.test(url)) return { source: 'path', origin: url.replace(/^file:(?:\/\/)?/, '') };
  return { source: 'url', origin: cleanUrl(url) };
}

/** pip's options that set package sources; each may name several, separated by white space. */
export const indexOptions: ReadonlySet<string> = new Set([
  'index-url',
  'extra-index-url',
  'find-links',
  'trusted-host',
  'no-index',
]);
