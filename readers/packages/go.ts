/* Reads the files of Go modules. */
import { numberedLines } from './content.ts';
import { LockBuilder, purlOf } from './lock-builder.ts';
import type { ReadingBuilder } from './reading.ts';

const others = /^(?:toolchain|exclude|retract|tool|godebug|ignore)$/;

/**
 * go.mod: what is required, with replacements applied; versions are exact. Since go 1.17 it lists everything that a
 * build uses; an older one leaves the indirect rest to go.sum.
 */
export function readGoMod(text: string, reading: ReadingBuilder): void {
  const required: { path: string; version: string; direct: boolean; line: number }[] = [];
  const replaced = new Map<string, { readonly path: string; readonly version: string }>();
  let block = '';
  for (const [line, raw] of numberedLines(text)) {
    const [code = '', comment = ''] = raw.split(/\/\/(.*)/s);
    const words = code.match(/"[^"\s]*"|`[^`\s]*`|[^\s"`]\S*|\S+/g) ?? [];
    const plain = words.map((word) => word.replace(/^(["`])(.*)\1$/, '$2'));
    const isOpen = block === '' && plain.length === 2 && plain[1] === '(';
    const [directive = '', ...rest] = block === '' ? plain : [block, ...plain];
    const arrow = rest.indexOf('=>');
    const [path = '', version = ''] = rest.slice(arrow + 1);
    if (plain.length === 0) continue;
    if (isOpen) block = directive;
    else if (plain[0] === ')' && plain.length === 1) block = '';
    else if (plain.some((word) => /^["`]/.test(word))) reading.problem(`line ${line} cannot be understood`);
    else if (directive === 'require' && rest.length === 2)
      required.push({ path, version, direct: !/^\s*indirect\s*(?:;|$)/.test(comment), line });
    else if (directive === 'replace' && arrow >= 1 && path !== '')
      replaced.set(rest.slice(0, Math.min(arrow, 2)).join('@'), { path, version });
    else if (directive === 'module') reading.local.add(path);
    else if (directive === 'go') reading.listsAll = /^(?:[2-9]|1\.(?:1[7-9]|[2-9]\d|\d{3}))/.test(path);
    else if (directive === 'require' || directive === 'replace')
      reading.problem(`line ${line} cannot be understood`);
    else if (!others.test(directive)) reading.problem(`line ${line} holds a directive that is not known`);
  }
  if (block !== '') reading.problem('a block is not closed');
  // Of what a go.mod does not list itself the replacement counts as such; of the others it is what they are.
  const listed = new Set(required.flatMap(({ path, version }) => [path, `${path}@${version}`]));
  for (const [from, { path }] of replaced)
    if (!listed.has(from) && path !== from.replace(/@[^@]*$/, '')) reading.source(`replace ${from}`, path);
  const builder = new LockBuilder(reading);
  for (const { path, version, direct, line } of required) {
    const other = replaced.get(`${path}@${version}`) ?? replaced.get(path);
    const isPath = other !== undefined && /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:)/.test(other.path);
    const entry = {
      name: isPath ? path : (other?.path ?? path),
      version: isPath ? version : (other?.version ?? version),
      source: isPath ? ('path' as const) : ('registry' as const),
      origin: isPath ? reading.placeOf(other.path) : undefined,
      direct,
      line,
      asks: [],
    };
    builder.add(purlOf(entry, 'go'), entry);
  }
  builder.finish();
  reading.knowsDirect = true;
}

/** Reads go.sum: hashes of downloaded modules. A module with a content hash counts as a separate package. */
export function readGoSum(text: string, reading: ReadingBuilder): void {
  const builder = new LockBuilder(reading);
  const hashes = new Map<string, { readonly algorithm: string; readonly value: string }>();
  for (const [number, line] of numberedLines(text)) {
    if (line.trim() === '') continue;
    const [name = '', version = '', hash = '', ...rest] = line.trim().split(/\s+/);
    if (rest.length > 0 || !/^h1:[A-Za-z0-9+/]{43}=$/.test(hash)) {
      reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    if (version.endsWith('/go.mod')) continue;
    const integrity = { algorithm: 'h1', value: hash.slice(3) };
    hashes.set(`${name}@${version}`, integrity);
    builder.add(`${name}@${version}`, {
      name,
      version,
      source: 'registry',
      integrity,
      line: number,
      asks: [],
    });
  }
  reading.hashes = hashes;
  builder.finish();
}
