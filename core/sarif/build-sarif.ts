import { sha256Hex } from '../base/digest.ts';
import type { Finding, Severity } from '../contract/finding.ts';
import { sarifRule } from './sarif-rules.ts';

/** What is reported, and by which version of writ. */
export interface SarifRequest {
  readonly findings: readonly SarifFinding[];
  /** Rules that were asked, those without findings too: that a rule ran is evidence. */
  readonly ruleIds: readonly string[];
  readonly version: string;
  /** Whether everything that was asked for was scanned. */
  readonly complete: boolean;
  /** Full commit id that paths are relative to. */
  readonly commit?: string;
}

/** A finding; where its line is known, the fingerprint survives moved lines. */
export type SarifFinding = Finding & { readonly lineText?: string };

/** GitHub code scanning refuses a run with more results, and shows the first 5,000 by severity. */
const maxResults = 25_000;
const maxMessage = 4000;
const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'note' };
const order: readonly Severity[] = ['error', 'warning', 'note'];

/**
 * SARIF 2.1.0 that GitHub code scanning takes in: one run, relative URIs, regions from 1, fingerprints, suppressions. What has no place in a
 * file is a notification of the invocation, since a result without a location is refused there. Same findings, same bytes.
 */
export function buildSarif({ findings: given, ruleIds, version, complete, commit }: SarifRequest): object {
  const findings = given.map((finding) => ({ ...finding, rule: toRuleId(finding.rule) }));
  const sorted = order.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const located = sorted.filter(({ path }) => path !== undefined && path !== '');
  const placeless = sorted.filter(({ path }) => path === undefined || path === '');
  const ids = [...new Set([...ruleIds, ...located.map(({ rule }) => rule)])].sort();
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const kept = located.slice(0, maxResults);
  const seen = new Map<string, number>();
  const left = located.length - kept.length;
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'writ', semanticVersion: version, rules: ids.map(toRule) },
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

/** Ids are words; whatever else a stored record holds there is made one (GitHub takes 255 characters). */
function toRuleId(id: string): string {
  return id.replace(/[^A-Za-z0-9._/-]+/g, '-').slice(0, 255);
}

function toRule(id: string): object {
  const { about, securitySeverity, tags } = sarifRule(id);
  return {
    id,
    name: id,
    shortDescription: { text: about },
    fullDescription: { text: about },
    defaultConfiguration: { level: 'error' },
    help: { text: about },
    properties: {
      tags: [...tags],
      ...(securitySeverity === undefined ? {} : { 'security-severity': securitySeverity }),
    },
  };
}

function toResult(finding: SarifFinding, ruleIndex: number, seen: Map<string, number>): object {
  const { rule, severity, message, path = '', line, column, lineText } = finding;
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
          region: {
            startLine: Math.max(1, line ?? 1),
            ...(line === undefined || column === undefined ? {} : { startColumn: Math.max(1, column) }),
          },
        },
      },
    ],
    partialFingerprints: { primaryLocationLineHash: `${key.slice(0, 32)}:${occurrence}` },
    ...(suppression === undefined ? {} : { suppressions: [suppression] }),
  };
}

function toNotification({ rule, severity, message }: SarifFinding): object {
  return { level: levels[severity], message: { text: plain(message) }, associatedRule: { id: rule } };
}

function overflow(left: number): object {
  const text = `${left} more results are not listed: a run holds at most ${maxResults}`;
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

/** Names and messages may come from the change itself: no control characters, no unpaired surrogates, bounded; SARIF links need `[`. */
function plain(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  const bounded = clean.length <= maxMessage ? clean : `${clean.slice(0, maxMessage - 1).toWellFormed()}…`;
  // SARIF 3.11.6: `[text](destination)` would become a link.
  return bounded.replace(/[[\]\\]/g, (found) => `\\${found}`);
}

/** A relative reference (RFC 3986): every segment percent-encoded, so that no name can be read as scheme, query or fragment. */
function toUri(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()))
    .join('/');
}
