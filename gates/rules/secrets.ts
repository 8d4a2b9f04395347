/* The rule `secrets`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import type { SecretMatch } from '../../readers/sensitive/secrets/secret-patterns.ts';
import { tokenChecksum, weighSecret } from '../../readers/sensitive/secrets/weigh-secret.ts';
import {
  type AddedLine,
  type AddedText,
  type Allowance,
  addedText,
  type BaseMarks,
  baseMarks,
  marker,
  readAllowance,
} from '../secrets/added-text.ts';
import { isDataFile, isNamedAsText } from '../source/changed-source.ts';

const rule = 'secrets';
const maxFindings = 500;

/**
 * Refuses added lines with a provider's token, a private key, a signed token, a password in an address, or a random
 * value under a secret-like name. A finding states the format, at most four characters that the format fixes, and a
 * digest; never the value. Suppressed findings are listed: a marker beside the same value at base, a digest in the
 * config at the policy commit, or a placeholder in a known format.
 */
export const judge: RuleFunction = (input) => {
  const allowance = readAllowance(input.options);
  if (allowance.problems.length > 0)
    return allowance.problems.map((problem) => ({
      rule,
      severity: 'error',
      message: `\`[rules.secrets]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
    }));
  const findings: Finding[] = [];
  const marks = baseMarks(input.patch, input.standing);
  for (const file of input.patch.files) {
    if (file.changeType === 'delete') continue;
    findings.push(...judgePath(file, allowance));
    findings.push(...judgeFile(input, file, allowance, marks));
    if (findings.length > maxFindings) {
      return [
        ...findings.slice(0, maxFindings),
        { rule, severity: 'error', message: `more than ${maxFindings} findings; the rest is not listed` },
      ];
    }
  }
  return findings;
};

/** A name is written wherever the file is: a token in it is a token. */
function judgePath(file: PatchFile, allowance: Allowance): readonly Finding[] {
  const found = secretInPath(file);
  if (found === undefined) return [];
  const { match, text } = found;
  const value = match.value ?? text.slice(match.start, match.end);
  const digest = allowance.digestOf(value);
  const isAllowed = allowance.reasonFor(digest, false) !== undefined;
  const shown = `${text.slice(0, match.start)}[redacted:secrets:${match.rule}]${text.slice(match.end)}`;
  const name = Buffer.from(shown, 'latin1').toString('utf8');
  return [
    {
      rule,
      severity: isAllowed ? 'note' : 'error',
      message: `the name of a file holds what looks like a secret: ${match.rule}, in \`${name}\``,
      detail: { format: match.rule, digest, ...(isAllowed ? { suppressed: true, reason: 'config' } : {}) },
    },
  ];
}

function secretInPath({
  path,
  oldPath,
  changeType,
}: PatchFile): { readonly match: SecretMatch; readonly text: string } | undefined {
  if (path.length < 20 || (changeType !== 'add' && oldPath === undefined)) return undefined;
  const bytes = Buffer.from(path);
  const text = bytes.toString('latin1');
  const match = findSecrets(bytes, text).find(
    (one) => one.kind === 'token' && weighSecret(one, text) === 'secret',
  );
  return match && { match, text };
}

/** One NUL makes a text binary to git. If the name indicates text, the NUL must not hide the content. */
function unread({ path }: PatchFile): Finding {
  const isText = isNamedAsText(path);
  const message = isText
    ? `\`${path}\` is named as text, and git takes it for binary: it cannot be scanned`
    : `\`${path}\` is binary: only tokens and keys that it holds unencoded would be found`;
  return { rule, severity: isText ? 'error' : 'note', message, path };
}

function judgeFile(
  input: RuleInput,
  file: PatchFile,
  allowance: Allowance,
  marks: BaseMarks,
): readonly Finding[] {
  const added = addedText(input, file);
  if (added === undefined) return [unread(file)];
  const { text, lines } = added;
  const found: Finding[] = [];
  // In binary content only tokens count: names and marks in it are coincidence.
  const isText = !file.binary || isNamedAsText(file.path);
  if (!isText) found.push(unread(file));
  const bareCounts = isDataFile(file.path);
  let index = 0;
  let covered = 0;
  for (const match of findSecrets(Buffer.from(text, 'latin1'), text, file.path)) {
    if (found.length > maxFindings) break;
    if (!isText && match.kind !== 'token') continue;
    // A value inside another is reported once.
    if (match.start < covered || (match.bare && !bareCounts)) continue;
    const weight = weighSecret(match, text);
    // A placeholder under a secret-like name, or in an address, is an example and not reported.
    if (weight === 'nothing' || (weight === 'placeholder' && match.kind !== 'token')) continue;
    // Matches come in order of start, so the lines are walked once.
    while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= match.start) index += 1;
    if (!touchesAdded(lines, index, match.end)) continue;
    covered = match.end;
    const place = { file, added, index };
    found.push(
      weight === 'placeholder'
        ? suppressed(match, place, 'placeholder')
        : judgeMatch(match, place, allowance, marks),
    );
  }
  return found;
}

/** Whether one of the lines from `index` to the offset `end` is added. */
function touchesAdded(lines: readonly AddedLine[], index: number, end: number): boolean {
  for (let at = index; (lines[at]?.at ?? end) < end; at += 1) if (lines[at]?.isAdded) return true;
  return false;
}

interface Place {
  readonly file: PatchFile;
  readonly added: AddedText;
  /** Of the line on which the match starts. */
  readonly index: number;
}

function judgeMatch(match: SecretMatch, place: Place, allowance: Allowance, marks: BaseMarks): Finding {
  const value = match.value ?? place.added.text.slice(match.start, match.end);
  const digest = allowance.digestOf(value);
  const reason = allowance.reasonFor(digest, marks.covers(value));
  if (reason !== undefined) return suppressed(match, place, reason, digest);
  const checksum = tokenChecksum(value);
  return {
    rule,
    severity: 'error',
    message: `an added line holds what looks like a secret: ${match.rule}${isMarked(place) ? newMark : ''}`,
    ...positionOf(match, place),
    detail: {
      format: match.rule,
      ...(isMarked(place) ? { marker: 'new' } : {}),
      // A token's prefix comes from its format. No character of a password is shown.
      ...(match.kind === 'token' ? { begins: value.slice(0, 4) } : {}),
      digest,
      ...(checksum === undefined ? {} : { checksum }),
      ...(match.wrapped === undefined ? {} : { wrapped: match.wrapped }),
    },
  };
}

function suppressed(match: SecretMatch, place: Place, reason: string, digest?: string): Finding {
  return {
    rule,
    severity: 'note',
    message: `${match.rule}: ${reasons[reason]}`,
    ...positionOf(match, place),
    detail: { format: match.rule, suppressed: true, reason, ...(digest === undefined ? {} : { digest }) },
  };
}

/** The message if the patch itself adds the marker. */
const newMark = `; \`${marker}\` counts only if it is at the policy commit, with this value: allow the digest in \`[rules.secrets]\` there`;

const reasons: Readonly<Record<string, string>> = {
  placeholder: 'the value says that it is a placeholder for a secret',
  marker: `suppressed by \`${marker}\`, which is next to this value at the policy commit`,
  config: 'suppressed by digest in the config at the policy commit',
};

function positionOf(
  { start }: SecretMatch,
  { file, added, index }: Place,
): Pick<Finding, 'path' | 'line' | 'column'> {
  const { at, line } = added.lines[index] ?? { at: 0, line: 1 };
  const before = Buffer.from(added.text.slice(at, start), 'latin1').toString('utf8');
  return { path: file.path, line, column: before.length + 1 };
}

/** Whether the marker is on the line, or on the added line directly above it. */
function isMarked({ added: { text, lines }, index }: Place): boolean {
  const here = lines[index];
  const above = lines[index - 1];
  if (here === undefined) return false;
  const from = above?.isAdded && above.line === here.line - 1 ? above.at : here.at;
  return text.slice(from, text.indexOf('\n', here.at)).includes(marker);
}
