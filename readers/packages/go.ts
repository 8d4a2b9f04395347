/* Reads the files of Go modules. */
import { numberedLines } from './content.ts';
import { LockBuilder, purlOf } from './lock-builder.ts';
import type { ReadingBuilder } from './reading.ts';

interface Replacement {
  readonly path: string;
  readonly version: string;
}

/**
 * go.mod: what is required, with replacements applied; versions are exact. Since go 1.17 it lists everything that a
 * build uses; an older one leaves the indirect rest to go.sum.
 */
export function readGoMod(text: string, reading: ReadingBuilder): void {
  const required: { path: string; version: string; isIndirect: boolean; line: number }[] = [];
  const replaced = new Map<string, Replacement>();
  let block = '';
  for (const [number, raw] of numberedLines(text)) {
    const [code = '', ...comments] = raw.split('//');
    const words = wordsOf(code);
    if (words === undefined) {
      reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    if (words.length === 0) continue;
    if (block === '' && words.length === 2 && words[1] === '(') {
      block = words[0] ?? '';
      continue;
    }
    if (words[0] === ')' && words.length === 1) {
      block = '';
      continue;
    }
    const [directive = '', ...rest] = block === '' ? words : [block, ...words];
    if (directive === 'require') {
      const [path = '', version = ''] = rest;
      if (rest.length !== 2) reading.problem(`line ${number} cannot be understood`);
      else
        required.push({
          path,
          version,
          isIndirect: /^\s*indirect\s*(?:;|$)/.test(comments.join('//')),
          line: number,
        });
    } else if (directive === 'replace') {
      const arrow = rest.indexOf('=>');
      const [path = '', version = ''] = rest.slice(arrow + 1);
      const [from = '', at] = rest.slice(0, arrow);
      if (arrow < 1 || path === '') reading.problem(`line ${number} cannot be understood`);
      else replaced.set(at === undefined ? from : `${from}@${at}`, { path, version });
    } else if (directive === 'module') reading.local.add(rest[0] ?? '');
    else if (directive === 'go')
      reading.listsAll = /^(?:[2-9]|1\.(?:1[7-9]|[2-9]\d|\d{3}))/.test(rest[0] ?? '');
    else if (!['toolchain', 'exclude', 'retract', 'tool', 'godebug', 'ignore'].includes(directive))
      reading.problem(`line ${number} holds a directive that is not known`);
  }
  if (block !== '') reading.problem('a block is not closed');
  // Of what a go.mod does not list itself the replacement counts as such; of the others it is what they are.
  const listed = new Set(required.flatMap(({ path, version }) => [path, `${path}@${version}`]));
  for (const [from, { path }] of replaced)
    if (!listed.has(from) && path !== from.replace(/@[^@]*$/, '')) reading.source(`replace ${from}`, path);
  const builder = new LockBuilder(reading);
  for (const { path, version, isIndirect, line } of required) {
    const other = replaced.get(`${path}@${version}`) ?? replaced.get(path);
    const isPath = other !== undefined && /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:)/.test(other.path);
    const isOther = other !== undefined && !isPath && other.path !== path;
    const entry = {
      name: isOther ? other.path : path,
      version: other === undefined || isPath ? version : other.version,
      source: isPath ? ('path' as const) : ('registry' as const),
      origin: isPath ? reading.placeOf(other.path) : undefined,
      direct: !isIndirect,
      line,
      asks: [],
    };
    builder.add(purlOf(entry, 'go'), entry);
  }
  builder.finish();
  reading.knowsDirect = true;
}

/** Splits a line into words without their quotes; `undefined` if a quote is not closed. */
function wordsOf(code: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const word of code.trim().split(/\s+/)) {
    if (word === '') continue;
    const quote = word[0];
    if (quote !== '"' && quote !== '`') words.push(word);
    else if (word.length > 1 && word.endsWith(quote)) words.push(word.slice(1, -1));
    else return undefined;
  }
  return words;
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
