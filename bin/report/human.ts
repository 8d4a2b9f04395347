/* Prints the summary of a run in the terminal. */
import { runFindings } from '../../api/run/run-data.ts';
import { type EndedRun, showLine, toVerdict } from '../../api/run/verdict.ts';
import { printable } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { ScanRecord } from '../../core/interfaces/scanner.ts';
import {
  type ArtifactRecord,
  type CheckObservation,
  type CheckRecord,
  failureOutput,
  type StageRecord,
} from '../../core/interfaces/stage.ts';
import { limitExceeded } from '../../gates/rules/check-outcome.ts';
import { ownSecretsIn } from '../../spec/secrets-in-text.ts';
import { toShellWord } from '../../workspace/shell/quote.ts';
import { type Part, type Printer, type Style, styled } from '../terminal/print.ts';
import {
  checksOnWorkers,
  distinctFindings,
  failedSecondRun,
  modelWords,
  pluginWords,
  toDuration,
  toSealedCommit,
  toSize,
  toStageWords,
  toTimeSpan,
  toTimeSpent,
  wroteOutside,
} from './words.ts';

/** Findings and checks printed per list; the rest is counted. */
const most = 50;
/** Lines of output printed for each failed check; `writ show` prints all that are kept. */
const mostLines = 20;
const tones: Readonly<Record<string, Style>> = {
  good: 'green',
  passed: 'green',
  bad: 'red',
  failed: 'red',
  error: 'red',
  open: 'yellow',
  waiting: 'yellow',
  warning: 'yellow',
};

/**
 * Prints a run's summary, decision first; with `--quiet` only the decision. `beside` drops the next step: `hinted` if
 * it is printed elsewhere, `show` if this output is already the full run.
 */
export function printRun(printer: Printer, view: EndedRun, beside?: 'hinted' | 'show'): void {
  const verdict = toVerdict(view);
  printer.line(styled(tones[verdict.tone] ?? 'bold', verdict.word), '  ', styled('bold', view.spec.summary));
  printer.line('  ', verdict.sentence);
  const commit = toSealedCommit(view);
  if (commit !== undefined)
    printer.line(`  ${commit.noun} `, styled('bold', commit.sha), ` ${commit.relation} ${view.targetRef}`);
  const { push } = view;
  if (push?.status === 'pushed')
    printer.line(`  pushed  to ${push.branch} of ${push.remote}, with ${push.refs} refs of records`);
  for (const notice of view.notices ?? []) printer.line('  ', styled('yellow', 'note'), `  ${notice}`);
  if (printer.quiet) return;
  printRetries(printer, view.retries);
  printCitations(printer, view.citations);
  printToolUses(printer, view.toolUses);

  printer.line();
  printer.table(
    view.stages.map((stage): readonly Part[] => [
      `  ${stage.stage}`,
      word(stage.status),
      toStageWords(stage, view.artifacts),
      stage.checks.length === 0 ? '' : toDuration(toTimeSpan(stage.checks).lengthMs),
    ]),
  );
  const troubled = view.stages.flatMap((stage) => stage.checks.filter((check) => check.status !== 'passed'));
  if (troubled.length > 0) {
    printer.line();
    for (const check of troubled.slice(0, most))
      printCheck(printer, check, view, beside === 'show' || isGone(view) ? undefined : mostLines);
    if (troubled.length > most) printer.line(styled('dim', `  and ${troubled.length - most} more`));
  }
  printNotes(printer, wroteOutside(view.stages));
  if (beside === 'show')
    printNotes(printer, [
      ...checksOnWorkers(view.stages),
      ...observedChecks(view.stages),
      ...scannedChecks(view.stages),
    ]);
  printFindings(printer, distinctFindings(runFindings(view)));
  if (view.artifacts.length > 0) {
    printer.line();
    printer.table(
      view.artifacts
        .slice(0, most)
        .map((artifact) => [
          `  ${artifact.name}`,
          styled('dim', `sha256:${artifact.sha256}`),
          toSize(artifact.sizeBytes),
        ]),
    );
    if (view.artifacts.length > most)
      printer.line(styled('dim', `  and ${view.artifacts.length - most} more`));
  }
  printer.line();
  const { provenance } = view;
  printer.table(
    [
      ['  run', view.runId],
      ['  bundle', provenance?.bundle],
      ['  log proof', provenance?.proof],
      ['  key', provenance?.keyId],
      ['  sandbox', view.sandbox],
      ['  time', view.time && toTimeSpent(view.time)],
      ...(provenance?.plugins ?? []).map((plugin): [string, string] => [
        '  plugin',
        `${plugin.name}  sha256:${plugin.sha256}  ${pluginWords(plugin)}`,
      ]),
      ...(provenance?.models ?? []).flatMap((work) =>
        modelWords(work)
          .slice(0, beside === 'show' ? undefined : 1)
          .map((words, n): [string, string] => [n === 0 ? '  model' : '', words]),
      ),
    ].flatMap(([name, value]): readonly (readonly Part[])[] =>
      value === undefined ? [] : [[styled('dim', name ?? ''), value]],
    ),
  );
  const next = verdict.next.find(({ line }) => beside !== 'show' || line !== showLine(view));
  if (next === undefined || beside === 'hinted') return;
  const isRefused = view.decision?.type === 'abandon';
  printer.line(styled('dim', '  next  '), isRefused ? `writ explain ${view.runId}` : next.line);
}

/** Prints a spec that was built for its author, in short: `--json` has all of it. `paths`: what the change touches. */
export function printSpec(
  print: Printer,
  { intent, acceptance, risk, metadata }: IntentSpec,
  { paths, found }: { readonly paths?: readonly string[]; readonly found?: string } = {},
): void {
  const { files = [] } = intent.touchHints ?? {};
  const places = paths ?? [...intent.inScope, ...files];
  const shown = places.slice(0, 3).map(printable).join(', ');
  const more = places.length > 3 ? ` and ${places.length - 3} more` : '';
  const { fastChecks, integrationChecks } = acceptance.verificationPlan;
  const checks = [...fastChecks, ...integrationChecks].map(({ command = '' }) => `\`${command}\``);
  const people = risk.humanInLoop.minApprovers;
  // Shown before the run refuses a token in it, and a log of CI keeps what was shown.
  const summary = ownSecretsIn(intent.summary).reduce(
    (text, secret) => text.replaceAll(secret, '[secret]'),
    intent.summary,
  );
  print.line(styled('bold', 'spec'), `  ${summary}`);
  print.line(`  change  ${intent.changeType}, to \`${printable(metadata.target.baseRef)}\`: ${shown}${more}`);
  print.line(`  checks  ${checks.join(', ')}${found === undefined ? '' : ` (from ${found})`}`);
  print.line(
    `  risk    ${risk.level}${people === 0 ? '' : `, ${people} ${people === 1 ? 'approval' : 'approvals'}`}`,
  );
}

/** Prints notes on checks. Without notes it prints no blank line either. */
function printNotes(printer: Printer, notes: readonly (readonly [id: string, words: string])[]): void {
  if (notes.length > 0) printer.line();
  for (const [id, words] of notes.slice(0, most)) printer.line('  ', word('note'), `  ${id}  ${words}`);
  if (notes.length > most) printer.line(styled('dim', `  and ${notes.length - most} more`));
}

/** Who was sent back on the way, for what and where. */
function printRetries(printer: Printer, retries: RunView['retries']): void {
  if (retries === undefined) return;
  for (const { failed, tasks, next, reason, places } of retries.first.slice(0, most)) {
    const untold = places.filter(({ path }) => !reason.includes(path));
    const where = untold.map(
      ({ rule, path, line }) => `${rule} ${path}${line === undefined ? '' : `:${line}`}`,
    );
    printer.line(
      '  ',
      styled('yellow', next === 'replan' ? 'planned anew' : 'tried again'),
      `  ${tasks.join(', ')} after ${failed}  ${reason}${where.length === 0 ? '' : ` (${where.join(', ')})`}`,
    );
  }
  const more = retries.count - Math.min(retries.first.length, most);
  if (more > 0) printer.line(styled('dim', `  and ${more} more`));
}

/** What the model's decisions rest on, each source with its tier. */
function printCitations(printer: Printer, citations: RunView['citations']): void {
  if (citations === undefined) return;
  for (const { decision, step, sources } of citations.first.slice(0, most)) {
    const told = sources
      .slice(0, most)
      .map(
        ({ source, counts, trust_tier: tier }) => `${source} [${counts ? (tier ?? '') : 'does not count'}]`,
      );
    const where = step === undefined ? '' : `step ${step}: `;
    printer.line('  ', styled('dim', 'cites'), `  ${where}${decision}  ${told.join(', ')}`);
  }
  const more = citations.count - Math.min(citations.first.length, most);
  if (more > 0) printer.line(styled('dim', `  and ${more} more decisions`));
}

/** What a worker did on its way, by tool and action. */
function printToolUses(printer: Printer, uses: RunView['toolUses']): void {
  if (uses === undefined) return;
  const told = uses.tools.map(({ tool, action, done, denied, failed, unknown = 0 }) => {
    const not = [
      denied > 0 ? `${denied} denied` : '',
      failed > 0 ? `${failed} failed` : '',
      unknown > 0 ? `${unknown} unknown` : '',
    ].filter((part) => part !== '');
    return `${tool} ${action} ${done + denied + failed + unknown}${not.length === 0 ? '' : ` (${not.join(', ')})`}`;
  });
  printer.line('  ', styled('dim', 'tools'), `  ${told.join(', ')}`);
}

function printCheck(printer: Printer, check: CheckRecord, view: EndedRun, maxLines?: number): void {
  const exit = check.timedOut
    ? 'timed out'
    : check.exitCode === undefined
      ? (limitExceeded(check) ?? check.signal ?? '')
      : `exit ${check.exitCode}`;
  const second = check.status === 'failed' ? failedSecondRun(check) : undefined;
  const optional = check.required ? (check.fromPolicy ? ' (of every change)' : '') : ' (not required)';
  printer.line(
    '  ',
    word(check.status),
    `  ${check.id}${optional}  ${exit}${second === undefined ? '' : `, second run ${second.exit}`}  ${toDuration(check.durationMs)}`,
  );
  if (check.status !== 'failed') return;
  const log = isGone(view) ? undefined : logOf(check, view);
  if (log !== undefined)
    printer.line(
      styled('dim', '    log  '),
      `git show ${toShellWord(`${view.contentRef ?? `refs/ai/content/${view.runId}`}:${log.path}`)}`,
    );
  printOutput(printer, check, view, maxLines);
}

/** Nothing is kept of a change that is only evaluated, or whose record is lost. */
function isGone({ would, isLost }: EndedRun): boolean {
  return would !== undefined || isLost === true;
}

/** The last lines that a failed check printed. */
function printOutput(printer: Printer, check: CheckRecord, view: RunView, maxLines?: number): void {
  const tail = failureOutput(check);
  if (tail === undefined) return;
  const lines = tail.text.split('\n');
  const shown = maxLines === undefined ? lines : lines.slice(-maxLines);
  const isCut = shown.length < lines.length;
  const second = failedSecondRun(check);
  const of = `output${second === undefined ? '' : ` of the second run, ${second.over}:`}`;
  if (isCut) printer.line(styled('dim', `    last ${shown.length} lines of ${of}; more: ${showLine(view)}`));
  else printer.line(styled('dim', tail.truncated ? `    last lines of ${of}` : `    ${of}`));
  for (const line of shown) printer.line(styled('dim', '    | '), line.replaceAll('\t', '    '));
}

/** What the check left behind that a person reads first: a log, else whatever there is. */
function logOf(check: CheckRecord, view: RunView): ArtifactRecord | undefined {
  const own = [
    ...check.artifacts,
    ...view.artifacts.filter(({ checkId, stage }) => checkId === check.id && stage === check.stage),
  ];
  return own.find(({ name }) => name.endsWith('-log')) ?? own[0];
}

function printFindings(printer: Printer, findings: readonly Finding[]): void {
  if (findings.length === 0) return;
  printer.line();
  for (const finding of findings.slice(0, most)) {
    const place =
      finding.path === undefined
        ? ''
        : `  ${finding.path}${finding.line === undefined ? '' : `:${finding.line}`}`;
    printer.line('  ', word(finding.severity), `  ${finding.rule}${place}  ${finding.message}`);
  }
  if (findings.length > most) printer.line(styled('dim', `  and ${findings.length - most} more`));
}

function word(text: string): Part {
  const tone = tones[text];
  return tone === undefined ? text : styled(tone, text);
}

/** How each check was observed, in order; checks that needed no observation are left out. Reasons are untrusted. */
function observedChecks(stages: readonly StageRecord[]): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap(({ id, observed }) =>
      observed === undefined ? [] : [[id, toObservedWords(observed)] as const],
    ),
  );
}

function toObservedWords({ by, reason }: CheckObservation): string {
  return by === 'none' ? `unobserved (${reason ?? 'no reason was given'})` : `observed by ${by}`;
}

/** Each scanner in one line. What it states of itself is untrusted. */
export function scannedChecks(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap(({ id, scan }) => (scan === undefined ? [] : [[id, toScanWords(scan)] as const])),
  );
}

function toScanWords({
  name,
  tool = name,
  version = '(no version)',
  inputs,
  reports,
  results,
}: ScanRecord): string {
  const digests = inputs.map(({ sha256 }) => sha256.slice(0, 12)).join(', ');
  const { candidate = 'none', base = 'none' } = reports;
  return `${tool} ${version}: ${results.new} new, ${results.unchanged} unchanged, ${results.absent} gone, ${results.ignored} ignored; pinned by ${digests || 'nothing'}; report ${candidate.slice(0, 12)}, at the base ${base.slice(0, 12)}`;
}
