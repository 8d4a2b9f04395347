/* Renders a run as Markdown, as SARIF, and as JUnit XML. */
import { runFindings, stageFindings } from '../../api/run/run-data.ts';
import { toVerdict } from '../../api/run/verdict.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { DescribedRule } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type CheckRecord, failureOutput, type StageRecord } from '../../core/interfaces/stage.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import { buildSarif } from '../../readers/documents/sarif/build-sarif.ts';
import { escapeHtml } from './page-frame.ts';
import {
  distinctFindings,
  toCount,
  toDuration,
  toSealedCommit,
  toSize,
  toStageWords,
  toTimeSpan,
  wroteOutside,
} from './words.ts';

/** Rows per list; the rest is counted. */
const most = 100;

/**
 * One run as Markdown for a pull request: decision, stages, findings, evidence, what to verify. Untrusted text is
 * inert.
 */
export function renderRunMarkdown(view: RunView): string {
  const verdict = toVerdict(view);
  const findings = distinctFindings([
    ...view.findings.map((finding) => ({ ...finding, place: 'patch' })),
    ...view.stages.flatMap((stage) =>
      stageFindings(stage).map(({ finding }) => ({ ...finding, place: stage.stage })),
    ),
  ]);
  const outside = wroteOutside(view.stages);
  const lines = [
    `## ${verdict.word}: ${text(view.spec.summary, 256)}`,
    '',
    text(verdict.sentence),
    '',
    ...commitLines(view),
    '| Stage | Status | Checks | Time |',
    '| --- | --- | --- | ---: |',
    ...view.stages.map((stage) => {
      const time = toTimeSpan(stage.checks).lengthMs;
      return `| ${stage.stage} | ${stage.status} | ${text(toStageWords(stage, view.artifacts), 512)} | ${stage.checks.length === 0 ? '' : toDuration(time)} |`;
    }),
    '',
    ...outside.slice(0, most).map(([id, words]) => `- ${text(id, 128)}: ${text(words)}`),
    ...(outside.length > most ? ['', `and ${outside.length - most} more`] : []),
    ...(outside.length > 0 ? [''] : []),
    '### Findings',
    '',
    ...(findings.length === 0 ? ['None.'] : findings.slice(0, most).map(findingLine)),
    ...(findings.length > most ? ['', `and ${findings.length - most} more`] : []),
    '',
    '### Evidence',
    '',
    ...(view.artifacts.length === 0
      ? ['None.']
      : [
          '| Artifact | SHA-256 | Size |',
          '| --- | --- | ---: |',
          ...view.artifacts
            .slice(0, most)
            .map(
              (artifact) =>
                `| ${text(artifact.name, 128)} | \`${code(artifact.sha256)}\` | ${toSize(artifact.sizeBytes)} |`,
            ),
        ]),
    ...(view.artifacts.length > most
      ? ['', `and ${toCount(view.artifacts.length - most, 'more artifact')}`]
      : []),
    '',
    ...(verdict.next.length === 0 ? [] : ['### Verify', '']),
    ...verdict.next.map(({ line, about }) => `- \`${code(line)}\`: ${text(about)}`),
    ...(verdict.next.length === 0 ? [] : ['']),
    `Run \`${code(view.runId)}\`, IntentSpec \`${code(view.spec.digest)}\`.`,
  ];
  return `${lines.join('\n')}\n`;
}

function commitLines(view: RunView): readonly string[] {
  const commit = toSealedCommit(view);
  if (commit === undefined) return [];
  const { noun, sha, relation } = commit;
  return [`${noun.replace(/^c/, 'C')} \`${code(sha)}\` ${relation} \`${code(view.targetRef)}\`.`, ''];
}

function findingLine(finding: Finding & { readonly place: string }): string {
  const where =
    finding.path === undefined
      ? ''
      : ` in ${text(finding.path, 1024)}${finding.line === undefined ? '' : ` line ${finding.line}`}`;
  return `- **${finding.severity}** ${text(finding.rule, 128)} (${finding.place})${where}: ${text(finding.message, 2000)}`;
}

/** Untrusted text for one line, at most `maxLength` characters of it. */
function text(value: string, maxLength = 4000): string {
  return markdownText(value.length > maxLength ? `${value.slice(0, maxLength)}…` : value);
}

/** For a code span: ids, digests, refs and command lines keep their letters, everything else becomes `?`. */
function code(value: string): string {
  return value.slice(0, 512).replace(/[^\w ./:+@=-]/g, '?');
}

/** Renders every finding of a run as SARIF 2.1.0. A run with unsettled stages is marked incomplete. */
export function renderRunSarif(
  view: RunView,
  version: string,
  described: readonly DescribedRule[] = [],
): string {
  const sarif = buildSarif({
    findings: runFindings(view),
    ruleIds: [],
    described,
    version,
    complete: view.state === 'decided' && view.stages.every(({ expected, ran }) => ran === expected),
    ...(view.decision?.commitSha === undefined ? {} : { commit: view.decision.commitSha }),
  });
  return `${JSON.stringify(sarif, undefined, 2)}\n`;
}

/**
 * A run as JUnit XML for CI systems: one suite per stage, one case per check, and a suite `patch` for the rules about
 * the change. A check that is not required and failed is skipped with its reason, as it does not block; a stage that
 * never started has its checks skipped.
 */
export function renderRunJunit(view: RunView): string {
  const suites = [patchSuite(view.findings), ...view.stages.map(stageSuite)];
  const sum = (key: 'tests' | 'failures' | 'skipped'): number =>
    suites.reduce((total, suite) => total + suite[key], 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(`writ run ${view.runId}`)}" tests="${sum('tests')}" failures="${sum('failures')}" skipped="${sum('skipped')}">`,
    ...suites.map(({ xml }) => xml),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Suite {
  readonly tests: number;
  readonly failures: number;
  readonly skipped: number;
  readonly xml: string;
}

interface Case {
  readonly name: string;
  readonly seconds: number;
  readonly failure?: string;
  /** What the check printed. */
  readonly output?: string;
  readonly skipped?: string;
}

function patchSuite(findings: readonly Finding[]): Suite {
  const byRule = Map.groupBy(findings, ({ rule }) => rule);
  return suite(
    'patch',
    [...byRule].map(([rule, found]) => {
      const errors = found.filter(({ severity }) => severity === 'error');
      return { name: rule, seconds: 0, ...(errors.length === 0 ? {} : { failure: describe(errors) }) };
    }),
  );
}

function stageSuite({ stage, checks, findings, expected, ran, status, asked = [] }: StageRecord): Suite {
  const cases: Case[] = checks.map(toCase);
  const own = findings.filter(({ severity }) => severity === 'error');
  if (own.length > 0) cases.push({ name: `${stage} stage`, seconds: 0, failure: describe(own) });
  else if (status !== 'passed' && ran < expected) {
    cases.push({
      name: `${stage} stage`,
      seconds: 0,
      skipped: `${expected - ran} of ${expected} checks did not run`,
    });
  }
  const ofPlugins = asked.filter((one) => one.status === 'passed');
  cases.push(...ofPlugins.map(({ name, plugin }) => ({ name: `${name} of plugin ${plugin}`, seconds: 0 })));
  return suite(stage, cases);
}

function toCase(check: CheckRecord): Case {
  const { id, status, required, durationMs, findings } = check;
  const base = { name: id, seconds: durationMs / 1000 };
  if (status === 'passed') return base;
  if (status === 'waiting') return { ...base, skipped: 'it waits for people' };
  const reason = describe(findings.filter(({ severity }) => severity === 'error'));
  const output = failureOutput(check)?.text;
  return required
    ? { ...base, failure: reason, ...(output === undefined ? {} : { output }) }
    : { ...base, skipped: `failed, not required: ${reason}` };
}

function suite(name: string, cases: readonly Case[]): Suite {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const head = `  <testsuite name="${attribute(name)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">`;
  const body = cases.map((one) => {
    const open = `    <testcase classname="${attribute(name)}" name="${attribute(one.name)}" time="${one.seconds.toFixed(3)}"`;
    if (one.failure !== undefined) {
      const failure = `<failure message="${attribute(one.failure)}"`;
      // Escaped like an attribute: no text of a program ends the element.
      const end = one.output === undefined ? '/>' : `>${attribute(one.output, one.output.length)}</failure>`;
      return `${open}>${failure}${end}</testcase>`;
    }
    if (one.skipped !== undefined) return `${open}><skipped message="${attribute(one.skipped)}"/></testcase>`;
    return `${open}/>`;
  });
  return { tests: cases.length, failures, skipped, xml: [head, ...body, '  </testsuite>'].join('\n') };
}

function describe(findings: readonly Finding[]): string {
  const lines = findings.slice(0, 20).map(({ rule, path, line, message }) => {
    const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`;
    return `${rule}${place}: ${message}`;
  });
  const more = findings.length > 20 ? [`and ${findings.length - 20} more`] : [];
  return [...lines, ...more].join('\n') || 'it failed';
}

/**
 * Untrusted text in an attribute. What escapes HTML escapes XML; beside it go the characters that XML 1.0 cannot hold,
 * and line structure stays.
 */
function attribute(text: string, maxLength?: number): string {
  return escapeHtml(text.toWellFormed(), maxLength)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}
