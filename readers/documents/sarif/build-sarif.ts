/* Builds SARIF reports of findings. */
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { Finding, Severity } from '../../../core/interfaces/finding.ts';
import type { DescribedRule } from '../../../core/interfaces/rule.ts';

export interface SarifRequest {
  readonly findings: readonly SarifFinding[];
  /** Ids of the rules that ran, also without findings: that a rule ran is evidence. */
  readonly ruleIds: readonly string[];
  /** What is known of rules; others are described by their id. */
  readonly described?: readonly DescribedRule[];
  readonly version: string;
  /** Whether the whole requested scope was scanned. */
  readonly complete: boolean;
  /** Full commit id that paths are relative to. */
  readonly commit?: string;
}

/**
 * A finding, of the rule that `detail.row` names where one rule is made of many; where its line is known, the
 * fingerprint survives moved lines.
 */
export type SarifFinding = Finding & { readonly lineText?: string };

/** GitHub code scanning refuses a run with more results, and shows the first 5,000 by severity. */
const maxResults = 25_000;
const maxMessage = 4000;
/** Limit for the bytes of messages and paths, which hardly compress. GitHub accepts 10 MB of gzip. */
const maxTextBytes = 6_000_000;
const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'note' };
const order: readonly Severity[] = ['error', 'warning', 'note'];

/**
 * Builds SARIF 2.1.0 that GitHub code scanning accepts: one run, relative URIs, regions from 1, fingerprints and
 * suppressions. A finding without a path becomes a notification of the invocation, because GitHub refuses results
 * without a location. Equal findings give equal bytes.
 */
export function buildSarif(request: SarifRequest): object {
  const { ruleIds, described = [], version, complete, commit } = request;
  const findings = once(request.findings.map((finding) => ({ ...finding, rule: ruleIdOf(finding) })));
  const sorted = order.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const located = sorted.filter(({ path = '' }) => toUri(path) !== '');
  const placeless = sorted.filter(({ path = '' }) => toUri(path) === '');
  const ids = [...new Set([...ruleIds, ...located.map(({ rule }) => rule)])].sort();
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const kept = located.slice(0, howMany(located));
  const seen = new Map<string, number>();
  const left = located.length - kept.length;
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'writ',
            semanticVersion: version,
            rules: ids.map((id) => toRule(described.find((one) => one.id === id) ?? byItsId(id))),
          },
        },
        columnKind: 'utf16CodeUnits',
        ...(commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? { properties: { commit } } : {}),
        invocations: [
          {
            executionSuccessful: complete && left === 0,
            toolExecutionNotifications: [
              ...placeless.map(toNotification),
              ...(left === 0 ? [] : [overflow(left)]),
            ],
          },
        ],
        results: kept.map((finding) => toResult(finding, indexes.get(finding.rule) ?? 0, seen)),
      },
    ],
  };
}

/**
 * Replaces characters that a rule id must not contain, because a stored record may hold any text. GitHub accepts 255
 * characters.
 */
function toRuleId(id: string): string {
  return id.replace(/[^A-Za-z0-9._/-]+/g, '-').slice(0, 255);
}

function ruleIdOf({ rule, detail }: SarifFinding): string {
  return toRuleId(typeof detail?.row === 'string' ? detail.row : rule);
}

/** Removes duplicates: a rule that both a check and its stage run reports the same finding twice. */
function once(findings: readonly SarifFinding[]): readonly SarifFinding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const { rule, severity, message, path, line, column } = finding;
    if (line === undefined) return true;
    const key = JSON.stringify([rule, severity, message, path, line, column, suppressionOf(finding)]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function howMany(findings: readonly SarifFinding[]): number {
  let bytes = 0;
  let count = 0;
  for (const { path = '', message } of findings.slice(0, maxResults)) {
    bytes += Buffer.byteLength(path) + Math.min(Buffer.byteLength(message), maxMessage * 3);
    if (bytes > maxTextBytes) break;
    count += 1;
  }
  return count;
}

function byItsId(id: string): DescribedRule {
  return { id, about: `Findings of rule ${id}.`, tags: [] };
}

function toRule({ id, about, help = about, level = 'error', securitySeverity, tags }: DescribedRule): object {
  return {
    id,
    name: id,
    shortDescription: { text: about },
    fullDescription: { text: about },
    defaultConfiguration: { level },
    help: { text: help },
    properties: {
      tags: [...tags],
      ...(securitySeverity === undefined ? {} : { 'security-severity': securitySeverity }),
    },
  };
}

function toResult(finding: SarifFinding, ruleIndex: number, seen: Map<string, number>): object {
  const { rule, severity, message, path = '', lineText } = finding;
  const what = canonicalLine(lineText ?? message);
  const key = sha256Hex(JSON.stringify([rule, path, what]));
  const occurrence = (seen.get(key) ?? 0) + 1;
  seen.set(key, occurrence);
  const suppression = suppressionOf(finding);
  return {
    ruleId: rule,
    ruleIndex,
    level: levels[severity],
    message: { text: plain(message) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(path), uriBaseId: '%SRCROOT%' },
          region: toRegion(finding),
        },
      },
    ],
    partialFingerprints: { primaryLocationLineHash: `${key.slice(0, 32)}:${occurrence}` },
    ...(suppression === undefined ? {} : { suppressions: [suppression] }),
  };
}

/**
 * Always sets all four numbers, which GitHub requires. The last column is exclusive; if the end of the line is
 * unknown, the region is one character.
 */
function toRegion({ line, column, lineText }: SarifFinding): object {
  const startLine = Math.max(1, line ?? 1);
  const startColumn = line === undefined || column === undefined ? 1 : Math.max(1, column);
  const endColumn = Math.max(startColumn, lineText?.length ?? startColumn) + 1;
  return { startLine, startColumn, endLine: startLine, endColumn };
}

function toNotification({ rule, severity, message }: SarifFinding): object {
  return { level: levels[severity], message: { text: plain(message) }, associatedRule: { id: rule } };
}

function overflow(left: number): object {
  const text = `${left} more results are not listed: a run holds at most ${maxResults}, and ${maxTextBytes} bytes of text`;
  return { level: 'error', message: { text } };
}

/** Findings that a marker or the configuration silences stay visible (SARIF 3.35). */
function suppressionOf({ detail, message }: SarifFinding): object | undefined {
  if (detail?.suppressed !== true) return undefined;
  return {
    kind: detail.reason === 'marker' ? 'inSource' : 'external',
    justification: plain(message),
  };
}

function canonicalLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * Names and messages may come from the change itself: no control characters, no unpaired surrogates, bounded; SARIF
 * links need `[`.
 */
function plain(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  const bounded = clean.length <= maxMessage ? clean : `${clean.slice(0, maxMessage - 1).toWellFormed()}…`;
  // SARIF 3.11.6: `[text](destination)` would become a link.
  return bounded.replace(/[[\]\\]/g, (found) => `\\${found}`);
}

/**
 * A relative reference (RFC 3986): every segment percent-encoded, so that no name can be read as scheme, query or
 * fragment, and none that leads out.
 */
function toUri(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .map((segment) => encodeURIComponent(segment.toWellFormed()))
    .join('/');
}
