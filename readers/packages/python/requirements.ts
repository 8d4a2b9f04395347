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
const takesNone = /^--(?:no-index|pre|prefer-binary|require-hashes)$/;

/**
 * A pip requirements file: requirements with extras, markers and hashes, URLs, paths, `-e`, `-r`, `-c`, options,
 * continuation lines. Environment variables in a requirement cannot be known and are a problem. `hasLines`: the text
 * is the file, so its lines count.
 */
export function readRequirements(text: string, reading: ReadingBuilder, hasLines = true): void {
  for (const { line, number, via } of logicalLines(text)) {
    const at = hasLines ? number : undefined;
    if (line.length > maxLine) reading.problem(`line ${number} is longer than ${maxLine}`);
    else if (!line.startsWith('-')) readOne(line, at, via, reading);
    else
      for (const [option, value] of optionsOf(line)) {
        const name = (Object.hasOwn(longOf, option) && longOf[option]) || option;
        if (name === '--requirement') reading.includes.push(value);
        else if (name === '--constraint') reading.constraints.push(value);
        else if (name === '--editable') readOne(value, at, via, reading);
        else if (name === '--require-hashes') reading.source(name, 'true', { line: at, counts: 'lost' });
        else if (indexOptions.has(name.slice(2)))
          reading.source(name.slice(2), value || 'true', { line: at });
        else if (!harmless.test(option)) reading.problem(`line ${number} holds an option that is not known`);
      }
  }
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
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, option = word, joined] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? /^(-[a-z])(.+)$/s.exec(word) ?? [];
    if (joined !== undefined) found.push([option, joined.replace(/^=/, '')]);
    else found.push([option, takesNone.test(option) ? '' : (words.shift() ?? '')]);
  }
  return found;
}

function readOne(text: string, line: number | undefined, via: string[], reading: ReadingBuilder): void {
  const hashes = [...text.matchAll(/\s--hash[=\s]([^\s]+)/g)].map(([, hash = '']) => hash);
  const bare = text.replace(/\s--(?:hash|global-option|config-settings|install-option)[=\s].*$/s, '').trim();
  const place = line === undefined ? 'a requirement' : `line ${line}`;
  if (/\$\{?\w/.test(bare)) return void reading.problem(`${place} holds a variable`);
  const requirement = parseRequirement(bare) ?? fromPlace(bare);
  if (requirement === undefined) return void reading.problem(`${place} cannot be understood`);
  const integrity = hashes.length === 1 ? fromHex(hashes[0] ?? '') : undefined;
  reading.hashes ??= new Map();
  if (integrity && requirement.version)
    reading.hashes.set(`${requirement.name}@${requirement.version}`, integrity);
  const isOfTests = /(?:^|[^a-z])(?:dev|test|tests|lint|docs?|ci)(?:[^a-z]|$)/i.test(reading.path);
  const isConstraint = reading.kind.id === 'constraints.txt';
  reading.declare({
    ...requirement,
    scope: isOfTests ? 'development' : 'runtime',
    field: isConstraint ? 'constraint' : 'requirements',
    line,
    via: via.length > 0 ? via : undefined,
    isOverride: isConstraint,
    isHashed: hashes.length > 0,
    needNotBeLocked: true,
  });
}

/** A URL, a wheel or a directory without `name @`. */
function fromPlace(text: string): PythonRequirement | undefined {
  const [place = ''] = text.split(/\s*;\s|\s/);
  const isUrl = /^[a-z+]+:\/\/|^git@/i.test(place);
  if (!isUrl && !/^(?:\.{0,2}\/|\.)|\.(?:whl|tar\.gz|zip)$/.test(place)) return undefined;
  const egg = /[#&]egg=([A-Za-z0-9][\w.-]*)/.exec(place)?.[1];
  const file = /([A-Za-z0-9][\w.]*)-(\d[\w.!+]*)(?:-[\w.-]+)?\.(?:whl|tar\.gz|zip|tar\.bz2)(?:[#?]|$)/.exec(
    place,
  );
  const path = place.replace(/\[[^\]]*\]$/, '');
  const parts = path
    .replace(/[#?].*$/s, '')
    .replace(/@[^/]*$/, '')
    .replace(/\.git$/, '')
    .split('/');
  const key = egg ?? file?.[1] ?? parts.findLast((part) => /[A-Za-z0-9]/.test(part)) ?? 'project';
  const name = pythonName(key);
  return isUrl
    ? { key, name, requirement: place, ...urlSource(place) }
    : { key, name, requirement: path, source: 'path', origin: path };
}

/** The line breaks of Python's `splitlines`: otherwise a comment could hide text that pip reads as a separate line. */
const pipLineBreak = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

interface LogicalLine {
  line: string;
  readonly number: number;
  /** The requiring packages, if pip-compile or uv lists them below or behind the requirement. */
  readonly via: string[];
}

function logicalLines(text: string): readonly LogicalLine[] {
  const found: LogicalLine[] = [];
  let goesOn = false;
  let inVia = false;
  for (const [at, raw] of text.split(pipLineBreak).entries()) {
    const last = found.at(-1);
    const comment = goesOn ? null : /^(\s*)#\s*(via\b)?\s*(.*)$/.exec(raw);
    inVia = comment !== null && comment[1] !== '' && (comment[2] !== undefined || inVia);
    if (inVia) last?.via.push(...namesIn(comment?.[3]));
    if (comment) continue;
    const code = raw.replace(/(?:^|\s)#.*$/, '');
    const part = code.replace(/\\$/, '');
    if (goesOn && last) last.line += ` ${part}`;
    else if (part.trim() !== '' || part !== code)
      found.push({ line: part, number: at + 1, via: namesIn(/\s#\s*via\s+(.*)$/.exec(raw)?.[1]) });
    goesOn = part !== code;
  }
  return found.map((one) => ({ ...one, line: one.line.trim() })).filter(({ line }) => line !== '');
}

/** `-r`: a file requires it, so it is direct. */
function namesIn(via = ''): string[] {
  return /^-[rc]\s/.test(via) ? ['-r'] : via.split(/[\s,]+/).filter((word) => word !== '');
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
  const version = /^===?\s*([\w.+!-]+)$/.exec(specifiers)?.[1];
  return { key, name, requirement: specifiers, source: 'registry', ...(version ? { version } : {}) };
}

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
