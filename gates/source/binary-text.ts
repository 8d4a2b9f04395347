import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import { binarySides } from '../../readers/diff/binary-sides.ts';
import { languageOf } from '../../readers/source/language.ts';

/**
 * A line of a file that git takes for binary, and its number in the candidate; 1 for all of one whose sides are not
 * told.
 */
export interface BinaryLine {
  readonly line: number;
  /** UTF-8, without its line feed. */
  readonly bytes: Buffer;
}

const texts =
  /(?:\.(?:json5?|jsonl|ndjson|xml|html?|svg|pem|key|p8|pub|ppk|crt|asc|gpg|css|scss|graphql|proto|lock|map|vue|svelte|ipynb|plist|gradle|cmake|mk|tpl|tmpl|j2|diff|patch)|(?:^|\/)(?:Makefile|LICENSE|README|id_[a-z0-9]+))$/i;

const dataNames =
  /(?:^|\/)(?:\.env(?:[.-][\w.-]{1,40})?|[\w.-]{0,80}\.env|\.(?:npmrc|pypirc|netrc|pgpass|dockercfg|s3cfg|boto)|_netrc|netrc|credentials|Dockerfile[\w.-]{0,40}|[\w.-]{0,80}\.Dockerfile|[\w.-]{0,120}\.(?:ini|cfg|conf|config|cnf|properties|ya?ml|toml|tfvars|env|sh|bash|zsh|bat|cmd|ps1|service|txt|log|md|rst|adoc|csv|tsv|sql|http|rest))$/i;

/** Whether `name = value` without quotes is a value in files of this kind; in program text it is an expression. */
export function isDataFile(path: string): boolean {
  return dataNames.test(path);
}

/** Whether a name says that a file is text: a NUL in it must not hide what stands in it. */
export function isNamedAsText(path: string): boolean {
  return isDataFile(path) || languageOf(path) !== undefined || texts.test(path);
}

/**
 * The lines that a change adds to a file that git takes for binary; UTF-16 is read as such. `undefined` where the diff
 * does not tell them.
 */
export function addedBinaryLines(diff: PatchSet['diff'], file: PatchFile): readonly BinaryLine[] | undefined {
  const sides = binarySides(diff, file);
  if (sides === undefined) return undefined;
  if (sides.inserted) return linesOf(sides.inserted).map(({ bytes }) => ({ bytes, line: 1 }));
  const known = new Map<string, number>();
  for (const { bytes } of linesOf(sides.base)) {
    const text = bytes.toString('latin1');
    known.set(text, (known.get(text) ?? 0) + 1);
  }
  return linesOf(sides.candidate).filter(({ bytes }) => {
    if (known.size === 0) return true;
    const text = bytes.toString('latin1');
    const left = known.get(text) ?? 0;
    if (left > 0) known.set(text, left - 1);
    return left === 0;
  });
}

function linesOf(side: Buffer | undefined): readonly BinaryLine[] {
  if (side === undefined) return [];
  const text = asUtf8(side);
  const lines: BinaryLine[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf(10, start);
    const end = feed < 0 ? text.length : feed;
    lines.push({ line: lines.length + 1, bytes: text.subarray(start, end) });
    start = end + 1;
  }
  return lines;
}

function asUtf8(side: Buffer): Buffer {
  const mark = side.length >= 2 ? side.readUInt16BE(0) : 0;
  if (mark !== 0xfffe && mark !== 0xfeff) return side;
  const paired = Buffer.from(side.subarray(0, side.length - (side.length % 2)));
  return Buffer.from((mark === 0xfffe ? paired : paired.swap16()).toString('utf16le'));
}
