/* Reads `.writ/waivers.toml`: findings that a repository tolerates until a day, and who answers for that. */
import { endOfDay, toRfc3339 } from '../../core/base/clock.ts';
import type { WritError } from '../../core/base/errors.ts';
import { compileGlob, type Glob, normalisePattern } from '../../core/base/glob.ts';
import { nearestName } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import { type ConfigIssue, invalidFile, readDocument, type TableReader } from './table-reader.ts';

/** Path of the file in the tree of the policy commit. */
export const waiversPath = '.writ/waivers.toml';

/** One `[[waiver]]`. */
export interface Waiver {
  readonly rule: string;
  readonly path: Glob;
  /** Who answers for it. */
  readonly owner: string;
  readonly reason: string;
  /** `YYYY-MM-DD`, the last day on which it holds, in UTC. */
  readonly expires: string;
}

const maxBytes = 256 * 1024;
const maxWaivers = 500;
const maxReason = 500;

/** The registry of rules; `isWhole` false: it lacks those of the repository's plugins. */
type KnownRules = Pick<Rules, 'ids' | 'get'> & { readonly isWhole?: boolean };

/** Reads the file. CONFIG_INVALID for unknown keys, and for rules that do not exist or can never be waived. */
export function parseWaivers(bytes: Uint8Array | undefined, rules: KnownRules): readonly Waiver[] {
  if (bytes === undefined) return [];
  return readDocument(bytes, { maxBytes, invalid }, (root) =>
    root.tables('waiver', maxWaivers).map((reader) => readWaiver(reader, rules)),
  );
}

function readWaiver(reader: TableReader, rules: KnownRules): Waiver {
  const named = (key: string): string => {
    const found = reader.text(key, '');
    if (found === '' && !reader.has(key)) reader.refuse(reader.at(key), 'expected a value');
    return found;
  };
  const [rule, path, owner, expires] = [named('rule'), named('path'), named('owner'), named('expires')];
  const reason = reader.has('reason') ? reader.prose('reason', '', maxReason) : named('reason');
  reader.end();
  const fault = rule === '' ? undefined : ruleFault(rule, rules);
  if (fault !== undefined) reader.refuse(reader.at('rule'), fault);
  const pattern = normalisePattern(path);
  if (path !== '' && pattern === undefined)
    reader.refuse(
      reader.at('path'),
      'expected a path or glob inside of the repository, such as `src/old/**`',
    );
  if (expires !== '' && Number.isNaN(endOfDay(expires)))
    reader.refuse(reader.at('expires'), 'expected a day in the form "YYYY-MM-DD"');
  const glob = pattern?.endsWith('/') ? `${pattern}**` : (pattern ?? '');
  return { rule, path: compileGlob(glob), owner, reason, expires };
}

function ruleFault(id: string, rules: KnownRules): string | undefined {
  const isWaivable = (one: string): boolean => {
    const rule = rules.get(one);
    // The policy commit lists the plugin as well, so it may waive what the plugin's rules find.
    return rule?.waivable === true || rule?.outside !== undefined;
  };
  if (isWaivable(id) || (rules.isWhole === false && !rules.ids.includes(id))) return undefined;
  const waivable = rules.ids.filter(isWaivable);
  const meant = rules.ids.includes(id) ? undefined : nearestName(id, waivable);
  const known = waivable.map((one) => `\`${one}\``).join(', ');
  return `\`${id}\` can never be waived${meant === undefined ? '' : `; did you mean \`${meant}\`?`} (waivable: ${known})`;
}

function invalid(issues: readonly ConfigIssue[], cause?: unknown): WritError {
  const detail = { file: waiversPath, issues };
  return invalidFile(waiversPath, detail, cause);
}

/** `detail.reason` of a waived finding. `detail.waiver` is the number of its waiver in the file, from 1. */
const waived = 'waiver';

/**
 * Lowers errors that a waiver covers to notes, and names the waiver. The message does not depend on the time, because
 * people approve it; `detail.evaluatedAt` is the clock that the waiver was valid at. An error whose waiver has expired
 * stays an error and says so, as one in a file that the change renames away from its waiver does. A finding without a
 * path is never waived.
 */
export function waiveFindings<F extends Finding>(
  findings: readonly F[],
  waivers: readonly Waiver[],
  atMs: number,
  files: readonly Pick<PatchFile, 'path' | 'oldPath'>[] = [],
): readonly F[] {
  if (waivers.length === 0) return findings;
  return findings.map((finding): F => {
    const { rule, severity, path, message, detail } = finding;
    if (severity !== 'error' || path === undefined) return finding;
    const ofRule = waivers.filter((one) => one.rule === rule);
    const [waiver] = ofRule
      .filter((one) => one.path.matches(path))
      .sort((a, b) => (a.expires < b.expires ? 1 : -1));
    if (waiver === undefined) {
      const { oldPath } = files.find((file) => file.path === path) ?? {};
      return oldPath !== undefined && ofRule.some((one) => one.path.matches(oldPath))
        ? { ...finding, message: `${message} (${oldPath} has a waiver, which does not follow a renaming)` }
        : finding;
    }
    const { reason, expires: until } = waiver;
    const named = { waiver: waivers.indexOf(waiver) + 1, until, evaluatedAt: toRfc3339(atMs) };
    if (atMs >= endOfDay(until))
      return {
        ...finding,
        message: `${message} (was waived until ${until}, which is past)`,
        detail: { ...detail, expired: true, ...named },
      };
    return {
      ...finding,
      severity: 'note',
      message: `${message} (waived until ${until}: ${reason})`,
      detail: { ...detail, suppressed: true, reason: waived, ...named },
    };
  });
}

const maxNamed = 20;

/**
 * Names the waivers that findings of a run used or would have used: who answers for them, and why. Findings are
 * redacted, and would lose an address there.
 */
export function waiverNotices(findings: readonly Finding[], waivers: readonly Waiver[]): readonly string[] {
  const used = findings.flatMap(({ detail }) => {
    const isExpired = detail?.expired === true;
    const number = isExpired || detail?.reason === waived ? detail?.waiver : undefined;
    const waiver = typeof number === 'number' ? waivers[number - 1] : undefined;
    return waiver === undefined ? [] : [waiverWords(waiver, isExpired)];
  });
  const words = [...new Set(used)];
  const more = words.length - maxNamed;
  return more > 0 ? [...words.slice(0, maxNamed), `${more} more waivers`] : words;
}

function waiverWords({ rule, path, owner, reason, expires }: Waiver, isExpired: boolean): string {
  const said = isExpired ? `expired after ${expires}` : `was used, until ${expires}`;
  return `the waiver of \`${rule}\` in \`${path.pattern}\` by ${owner} ${said}: ${reason}`;
}

/** The notices of a run that name a waiver that it used. */
export function usedWaivers(notices: readonly string[]): readonly string[] {
  return notices.filter((notice) => /^the waiver of `[^`]*` in `.*` by .* was used, until \d/s.test(notice));
}

/** Returns a refusal for each waived finding whose waiver has expired since, while the run waited. */
export function expiredWaivers(findings: readonly Finding[], nowMs: number): readonly Finding[] {
  return findings.flatMap(({ rule, path, detail }) => {
    const until = detail?.reason === waived ? detail.until : undefined;
    if (typeof until !== 'string' || nowMs < endOfDay(until)) return [];
    const message = `the waiver of \`${rule}\` for \`${path ?? ''}\` expired on ${until}, while the run waited`;
    const where = path === undefined ? {} : { path };
    return [{ rule: 'waiver-expired', severity: 'error' as const, message, ...where }];
  });
}
