import { readHunkHeader } from './hunk-header.ts';
import { unquotePath } from './quote-path.ts';

/**
 * What the headers of one file in an incoming patch say. Names are as written, prefix included; absent means
 * `/dev/null` or not said.
 */
export interface PatchSection {
  readonly isGit: boolean;
  readonly oldName?: string;
  readonly newName?: string;
  /** From `rename from`, `copy to` and the like: never prefixed. */
  readonly plainNames: readonly string[];
  /** First line (from 1) of the section. */
  readonly line: number;
  readonly hunks: readonly { readonly oldStart: number; readonly line: number }[];
}

type Draft = { -readonly [Key in keyof PatchSection]: PatchSection[Key] } & {
  plainNames: string[];
  hunks: { oldStart: number; line: number }[];
};

/**
 * Reads the file headers of a patch, skipping hunk bodies by their counts and everything that is no patch (mail
 * headers, prose). It judges nothing: git does. Linear in the size of the patch; no copy of it is made.
 */
export function readSections(patch: Buffer): readonly PatchSection[] {
  const sections: Draft[] = [];
  let current: Draft | undefined;
  let at = 0;
  let line = 0;
  let isBinary = false;
  const nextLine = (): Buffer | undefined => {
    if (at >= patch.length) return undefined;
    const end = patch.indexOf(10, at);
    const found = patch.subarray(at, end < 0 ? patch.length : end);
    at = end < 0 ? patch.length : end + 1;
    line += 1;
    return found;
  };
  for (let text = nextLine(); text !== undefined; text = nextLine()) {
    const first = text[0];
    if (first === 0x64 && startsWith(text, 'diff --git ')) {
      current = { isGit: true, plainNames: [], line, hunks: [], ...gitHeaderNames(text.subarray(11)) };
      sections.push(current);
      isBinary = false;
    } else if (first === 0x47 && startsWith(text, 'GIT binary patch')) {
      isBinary = true;
    } else if (first === 0x2d && startsWith(text, '--- ')) {
      const peek = patch.subarray(at, at + 4);
      if (!startsWith(peek, '+++ ')) continue;
      const oldName = headerName(text.subarray(4));
      const newName = headerName((nextLine() ?? text).subarray(4));
      if (current === undefined || !current.isGit || current.hunks.length > 0 || isBinary) {
        current = { isGit: false, plainNames: [], line: line - 1, hunks: [] };
        sections.push(current);
      }
      delete current.oldName;
      delete current.newName;
      if (oldName !== undefined) current.oldName = oldName;
      if (newName !== undefined) current.newName = newName;
    } else if (first === 0x40 && current && startsWith(text, '@@ -')) {
      const header = readHunkHeader(text, 0, text.length);
      if (!header) continue;
      current.hunks.push({ oldStart: header.oldLine, line });
      skipHunk(header.oldCount, header.newCount);
    } else if (first === 0x72 || first === 0x63) {
      const name = /^(?:rename|copy) (?:from|to) (?=.)/.exec(text.toString('latin1', 0, 14))?.[0];
      if (name && current?.isGit) current.plainNames.push(wholeName(text.subarray(name.length)) ?? '');
    }
  }
  return sections;

  /** Content may look like headers (a removed line `-- a/x` reads `--- a/x`), so it is stepped over by count. */
  function skipHunk(oldLines: number, newLines: number): void {
    let oldLeft = oldLines;
    let newLeft = newLines;
    while ((oldLeft > 0 || newLeft > 0) && at < patch.length) {
      const kind = patch[at];
      if (kind === 0x2b) newLeft -= 1;
      else if (kind === 0x2d) oldLeft -= 1;
      else if (kind === 0x20 || kind === 0x0a || kind === 0x0d) {
        oldLeft -= 1;
        newLeft -= 1;
      } else if (kind !== 0x5c) return;
      const end = patch.indexOf(10, at);
      at = end < 0 ? patch.length : end + 1;
      line += 1;
    }
  }
}

function startsWith(text: Buffer, wanted: string): boolean {
  return text.length >= wanted.length && text.toString('latin1', 0, wanted.length) === wanted;
}

/**
 * `a/x b/x`, either half quoted. Unquoted halves are told apart as git does it: the names behind their prefixes must be
 * equal.
 */
function gitHeaderNames(text: Buffer): { oldName?: string; newName?: string } {
  const bytes = stripReturn(text);
  if (bytes[0] === 0x22) {
    const left = unquotePath(bytes);
    const rest = left && bytes.subarray(left.length + 1);
    const newName = rest && wholeName(rest);
    return left && newName !== undefined ? { oldName: left.path, newName } : {};
  }
  const names = bytes.toString('utf8');
  const quote = names.indexOf(' "');
  if (quote > 0 && names.endsWith('"')) {
    const newName = wholeName(bytes.subarray(Buffer.byteLength(names.slice(0, quote + 1))));
    return newName === undefined ? {} : { oldName: names.slice(0, quote), newName };
  }
  const middle = (names.length - 1) / 2;
  const left = names.slice(0, middle);
  const right = names.slice(middle + 1);
  if (
    Number.isInteger(middle) &&
    names[middle] === ' ' &&
    (left === right || afterPrefix(left) === afterPrefix(right))
  ) {
    return { oldName: left, newName: right };
  }
  // A rename: the names are repeated, unambiguous, on lines of their own.
  return {};
}

function afterPrefix(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** The name on a `---` or `+++` line: up to a tab, or up to a timestamp behind blanks; `undefined` for `/dev/null`. */
function headerName(text: Buffer): string | undefined {
  const bytes = stripReturn(text);
  if (bytes[0] === 0x22) return unquotePath(bytes)?.path ?? '';
  const tab = bytes.indexOf(9);
  const name = bytes.toString('utf8', 0, tab < 0 ? bytes.length : tab);
  const bare =
    tab < 0
      ? name.replace(/ +\d{2,4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[+-]\d\d:?\d\d)?$/, '')
      : name;
  return bare === '/dev/null' ? undefined : bare;
}

function wholeName(text: Buffer): string | undefined {
  const bytes = stripReturn(text);
  return bytes[0] === 0x22 ? unquotePath(bytes)?.path : bytes.toString('utf8');
}

function stripReturn(text: Buffer): Buffer {
  return text.at(-1) === 13 ? text.subarray(0, -1) : text;
}
