/* Reads `.writ/owners`: who has to approve changes of which paths, in the syntax of a CODEOWNERS file. */
import { isUtf8 } from 'node:buffer';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { ApprovalVerdict, OwnedPaths } from '../../core/interfaces/approval.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';

/** Path of the file in the tree of the policy commit. */
export const ownersPath = '.writ/owners';

/** One line: the last line whose pattern matches a path decides. Without owners, its paths need no owner. */
interface OwnerLine {
  readonly pattern: string;
  /** Segments of the paths that it is about; `**` is any number of them. */
  readonly segments: readonly string[];
  /** As they are written: principals of the allowed signers, and names that begin with `@`. */
  readonly owners: readonly string[];
  /** The principals behind them. */
  readonly principals: readonly string[];
}

/** The lines of the file in their order; no lines where there is no such file. */
export type Owners = readonly OwnerLine[];

type Groups = Readonly<Record<string, readonly string[]>>;
/** Whether the allowed signers name a principal. */
type IsKnown = (principal: string) => boolean;

/** A user or a team of a forge; `[approvals.groups]` says who that is. */
export const forgeName = /^@[A-Za-z0-9][\w-]{0,63}(?:\/[A-Za-z0-9][\w.-]{0,63})?$/;

const maxBytes = 256 * 1024;
const maxLines = 2000;
const maxPattern = 1024;
const maxOwners = 64;

/**
 * Reads the file. CONFIG_INVALID names every line that cannot be read, and every owner who is unknown: an `@name`
 * that is no group of `[approvals.groups]`, or a principal that the allowed signers do not name. Verification passes
 * no `isKnown`, because the run has shown it.
 */
export function parseOwners(bytes: Uint8Array | undefined, groups: Groups, isKnown?: IsKnown): Owners {
  if (bytes === undefined) return [];
  const issues: { readonly path: string; readonly message: string }[] = [];
  const refuse = (line: number, message: string): void => {
    if (issues.length < 100) issues.push({ path: line === 0 ? '' : `line ${line}`, message });
  };
  const texts = bytes.length > maxBytes || !isUtf8(bytes) ? undefined : Buffer.from(bytes).toString('utf8');
  if (texts === undefined) refuse(0, `expected UTF-8 of at most ${maxBytes} bytes`);
  const lines: OwnerLine[] = [];
  for (const [index, text] of (texts ?? '').split('\n').entries()) {
    const [pattern, ...owners] = wordsOf(text);
    if (pattern === undefined) continue;
    const segments = segmentsOf(pattern);
    if (typeof segments === 'string') {
      refuse(index + 1, `\`${printable(pattern).slice(0, 200)}\`: ${segments}`);
      continue;
    }
    if (owners.length > maxOwners) refuse(index + 1, `expected at most ${maxOwners} owners`);
    const found = owners.map((owner) => principalsOf(owner, groups, isKnown));
    for (const fault of found) if (typeof fault === 'string') refuse(index + 1, fault);
    const principals = [...new Set(found.filter((one) => typeof one !== 'string').flat())];
    lines.push({ pattern, segments, owners, principals });
  }
  if (lines.length > maxLines) refuse(0, `expected at most ${maxLines} patterns, found ${lines.length}`);
  const [first] = issues;
  if (first === undefined) return lines;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  throw new WritError('CONFIG_INVALID', {
    message: `\`${ownersPath}\` at the policy commit is not valid${first.path === '' ? '' : ` at ${first.path}`}: ${first.message}${more}`,
    detail: { file: ownersPath, issues },
  });
}

/** The words of a line up to a comment. `\ ` is a blank within a pattern. */
function wordsOf(line: string): readonly string[] {
  const words = line.trim().match(/(?:[^\s\\]|\\ |\\)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

/** The segments that a path has to fit, or what is wrong with the pattern. */
function segmentsOf(pattern: string): readonly string[] | string {
  if (pattern.length > maxPattern) return `expected at most ${maxPattern} characters`;
  if (/[\p{Cc}\ufeff]/u.test(pattern)) return 'it holds control characters';
  if (pattern.startsWith('!')) return 'a pattern cannot be negated; name a later one without an owner';
  if (/[[\]]/.test(pattern)) return 'character ranges (`[ ]`) are not supported';
  if (/["']/.test(pattern)) return 'quotes are not supported; a blank is written `\\ `';
  const plain = pattern.replaceAll('\\ ', ' ');
  if (plain.includes('\\')) return 'a backslash is allowed only before a blank';
  const isDirectory = plain.endsWith('/');
  const whole = isDirectory ? plain.slice(0, -1) : plain;
  const segments = whole.replace(/^\//, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'expected a path or a pattern of file names';
  const anywhere = whole.includes('/') ? [] : ['**'];
  const last = segments.at(-1);
  const upTo = last === '**' ? segments.slice(0, -1) : segments;
  if (isDirectory || last === '**') return [...anywhere, ...upTo, '*', '**'];
  // `docs/*` is about files of that directory only; a name is about everything below it too.
  return [...anywhere, ...segments, ...(last === '*' ? [] : ['**'])];
}

/** Whether a path is one of a line's. */
function covers({ segments }: OwnerLine, path: readonly string[]): boolean {
  return fitsSequence(path, segments, '**', (name, wanted) =>
    /[*?]/.test(wanted)
      ? fitsSequence(name, wanted, '*', (char, want) => want === '?' || want === char)
      : name === wanted,
  );
}

/** The principals of an owner, or why it is none. */
function principalsOf(
  owner: string,
  groups: Groups,
  isKnown: IsKnown = () => true,
): readonly string[] | string {
  const shown = printable(owner).slice(0, 200);
  const isForgeName = owner.startsWith('@');
  if (isForgeName && !forgeName.test(owner)) return `\`${shown}\` is no \`@user\` or \`@organisation/team\``;
  const principals = isForgeName ? (Object.hasOwn(groups, owner) ? groups[owner] : undefined) : [owner];
  if (principals === undefined)
    return `\`${shown}\` is unknown: say who that is, \`"${shown}" = ["name@example.org"]\` in \`[approvals.groups]\` of \`.writ/config.toml\``;
  const first = principals.find((one) => !isKnown(one));
  if (first === undefined) return principals;
  const of = isForgeName ? ` of \`${shown}\`` : '';
  return `\`${printable(first).slice(0, 200)}\`${of} is unknown: \`.writ/allowed_signers\` at the policy commit does not name it`;
}

const maxNamed = 20;

/**
 * Returns which changed paths need an approval by an owner, by line of the file, before anyone has approved. Both
 * names of a moved file count. Pure.
 */
export function ownedPathsIn(
  owners: Owners,
  files: readonly Pick<PatchFile, 'path' | 'oldPath' | 'changeType'>[],
): readonly OwnedPaths[] {
  if (owners.length === 0) return [];
  const paths = new Set(
    files.flatMap(({ path, oldPath, changeType }) =>
      oldPath === undefined || changeType === 'copy' ? [path] : [oldPath, path],
    ),
  );
  const found = new Map<OwnerLine, string[]>();
  for (const path of [...paths].sort()) {
    const parts = path.split('/');
    const line = owners.findLast((one) => covers(one, parts));
    if (line === undefined || line.owners.length === 0) continue;
    const known = found.get(line);
    if (known === undefined) found.set(line, [path]);
    else known.push(path);
  }
  return owners.flatMap((line) => {
    const covered = found.get(line);
    if (covered === undefined) return [];
    const { pattern, owners: names, principals } = line;
    const paths = covered.slice(0, maxNamed);
    return [{ pattern, owners: names, principals, paths, count: covered.length, approved: [] }];
  });
}

/** Adds who of the owners has approved, by approvals that count. Pure. */
export function withApprovals(
  owned: readonly OwnedPaths[],
  approvals: readonly (Pick<ApprovalVerdict, 'decision' | 'principal'> & { readonly status: string })[],
): readonly OwnedPaths[] {
  const people = approvals.flatMap(({ status, decision, principal }) =>
    status === 'counts' && decision === 'approve' ? [principal] : [],
  );
  return owned.map((one) => ({
    ...one,
    approved: [...new Set(peopleAmong(people, one.principals))].sort(),
  }));
}

/** Without the names of authors (`Name <mail>`, or a part of it), whose approvals do not count. Pure. */
export function withoutAuthors(
  owned: readonly OwnedPaths[],
  authors: readonly string[],
): readonly OwnedPaths[] {
  const parts = authors.flatMap((author) => [author, ...(/^(.*)<([^<>]*)>$/.exec(author)?.slice(1) ?? [])]);
  return owned.map((one) => {
    const theirs = new Set(peopleAmong(one.owners, parts));
    return { ...one, owners: one.owners.filter((name) => !theirs.has(name)) };
  });
}

/** Those of these people who are among the principals. Pure. */
export function peopleAmong(people: readonly string[], principals: readonly string[]): readonly string[] {
  const names = new Set(principals.map(foldPrincipal));
  return people.filter((name) => names.has(foldPrincipal(name)));
}

/** The form in which names of people are compared: case and Unicode form do not matter. */
export function foldPrincipal(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

/**
 * Whether items fit a sequence in which `star` matches any number of them. Matches with two pointers: after a
 * mismatch only the last `star` takes one item more, so the work is at most the product of the lengths.
 */
export function fitsSequence<Item>(
  items: ArrayLike<Item>,
  wanted: ArrayLike<Item>,
  star: Item,
  fits: (item: Item, want: Item) => boolean,
): boolean {
  let [at, place, starPlace, resume] = [0, 0, -1, 0];
  while (at < items.length) {
    const [item, want] = [items[at], wanted[place]];
    if (want === star) {
      starPlace = place;
      resume = at;
      place += 1;
    } else if (item !== undefined && want !== undefined && fits(item, want)) {
      at += 1;
      place += 1;
    } else if (starPlace >= 0) {
      place = starPlace + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (wanted[place] === star) place += 1;
  return place === wanted.length;
}
