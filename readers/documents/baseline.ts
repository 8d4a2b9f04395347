/* The baseline of a repository: findings that exist, which no change answers for. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { count, list, object, oneOf, parse, type TypeOf, text, where } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { Rule } from '../../core/interfaces/rule.ts';

/** It counts at the policy commit. */
export const baselinePath = '.writ/baseline.json';

const maxBytes = 4 * 1024 * 1024;
const maxKnown = 10_000;
const maxPath = 4096;
const maxAbout = 20_000;

const digest = where(text(64), 'to be a SHA-256 in hex', (found) => /^[0-9a-f]{64}$/.test(found));
/** One finding, and how often the file has it. `sha256`: of its lines; absent if it is about no line. */
const known = object(
  'an object with `rule`, `path`, `about`, `count` and perhaps `sha256`',
  { rule: text(200), path: text(maxPath), about: text(maxAbout), count: count(1) },
  { sha256: digest },
);
export type KnownFinding = TypeOf<typeof known>;

const document = object('an object with `version` and `findings`', {
  version: oneOf('1'),
  findings: list(known, maxKnown),
});

/** BASELINE_INVALID. */
export function parseBaseline(bytes: Uint8Array): readonly KnownFinding[] {
  const { value } = parseStrictJson(bytes, { code: 'BASELINE_INVALID', maxBytes });
  try {
    return parse(document, value).findings;
  } catch (fault) {
    throw new WritError('BASELINE_INVALID', { message: messageOf(fault), cause: fault });
  }
}

/** One finding on a line, so that a diff of two baselines shows what came and went. */
export function formatBaseline(findings: readonly KnownFinding[]): string {
  const lines = findings.map((one) => `    ${JSON.stringify(one)}`);
  const listed = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "version": "1",\n  "findings": ${listed}\n}\n`;
}

/** What identifies a finding while the lines around it change. */
type Identity = Omit<KnownFinding, 'count'>;

/**
 * Returns what identifies an error of this rule; `undefined` for anything that a baseline does not name. `textAt`
 * returns the text of a file.
 */
export function identify(
  { id, baseline }: Pick<Rule, 'id' | 'baseline'>,
  { rule, severity, path, line, detail }: Finding,
  textAt: (path: string) => string | undefined,
): Identity | undefined {
  const about = severity === 'error' && rule === id ? baseline?.about(detail ?? {}) : undefined;
  if (!about || path === undefined || about.length > maxAbout || path.length > maxPath) return undefined;
  if (baseline?.isOfLines !== true) return { rule, path, about };
  const lines = textAt(path)?.split('\n') ?? [];
  const last = (line ?? 0) + (typeof detail?.lines === 'number' ? detail.lines : 1) - 1;
  if (line === undefined || last > lines.length) return undefined;
  const found = lines.slice(line - 1, last).map((one) => one.replace(/[ \t\r\f\v]+/g, ' ').trim());
  return { rule, path, about, sha256: sha256Hex(found.join('\n')) };
}

export function keyOf({ rule, path, about, sha256 = '' }: Identity): string {
  return JSON.stringify([rule, path, about, sha256]);
}

export function countKeys(identities: Iterable<Identity | undefined>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of identities) {
    if (one === undefined) continue;
    const key = keyOf(one);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Findings with those that are known as notes. `room`: how many of each may be, by key. */
export function coverKnown<Found extends Finding>(
  findings: readonly Found[],
  identityOf: (finding: Finding) => Identity | undefined,
  room: ReadonlyMap<string, number>,
): readonly Found[] {
  const left = new Map(room);
  return findings.map((finding) => {
    const identity = identityOf(finding);
    const key = identity === undefined ? '' : keyOf(identity);
    const places = left.get(key) ?? 0;
    if (places <= 0) return finding;
    left.set(key, places - 1);
    return {
      ...finding,
      severity: 'note',
      message: `${finding.message} (the baseline names it)`,
      detail: { ...finding.detail, suppressed: true, reason: 'baseline' },
    };
  });
}
