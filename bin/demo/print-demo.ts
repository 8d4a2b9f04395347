/* Prints the results of the demo. */
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import type { ApprovalVerdict } from '../../core/interfaces/approval.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { printVerification } from '../report/scan.ts';
import { toCount, toDuration, toSize, toTimeSpan } from '../report/words.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { type ModelPart, printModelRun, type Seal } from './model-run.ts';

/** A patch that must be refused, and what became of it. */
export interface Refusal {
  readonly patch: string;
  readonly about: string;
  /** The rule that it breaks. */
  readonly expected: string;
  readonly view: RunView;
}

/** The fix as it waited for people. */
export interface Wait {
  readonly about: string;
  readonly view: RunView;
  readonly approvals: readonly (Pick<ApprovalVerdict, 'principal' | 'keyId' | 'detail'> & {
    readonly status: string;
  })[];
}

export interface Demo {
  readonly out: string;
  readonly repository: string;
  readonly view: RunView;
  readonly refusals: readonly Refusal[];
  readonly waits: readonly Wait[];
  readonly verified: readonly VerifiedTarget[];
  readonly seal: Seal | undefined;
  readonly model: ModelPart;
  /** Commands for the demo's directory. Default of `exit` is 0. */
  readonly next: readonly { readonly line: string; readonly about: string; readonly exit?: number }[];
}

/** Rules that gave an `error`, over patch and stages. */
export function rulesOf(view: RunView): readonly string[] {
  return [...new Set(errorsOf(view).map(({ rule }) => rule))];
}

/** Prints refusals and their reasons, the sealed commit and its approvers, the verification, and the next commands. */
export function printDemo(printer: Printer, demo: Demo): void {
  const { out, view, refusals, waits, verified, seal, model, next } = demo;
  title(printer, 'refused, as expected');
  for (const { patch, about, view: bad } of refusals) {
    printer.line('  ', styled('red', bad.decision?.type ?? 'undecided'), `  ${patch}: ${about}`);
    for (const { rule, path, line, message } of errorsOf(bad).slice(0, 1))
      printer.line(
        styled('dim', `    ${rule}  ${path ?? ''}${line === undefined ? '' : `:${line}`}  ${message}`),
      );
  }
  title(printer, 'waiting for two approvals (`writ run` exits with 4)');
  for (const { about, view: waiting, approvals } of waits) {
    printer.line('  ', styled('yellow', waiting.state), `  fix.patch: ${about}`);
    printer.line(styled('dim', `    ${waiting.decision?.rationale ?? ''}`));
    for (const { status, detail } of approvals)
      printer.line(styled('dim', `    does not count: ${status}: ${detail ?? ''}`));
  }
  printSealed(printer, view);
  if (seal) printSeal(printer, seal, verified);
  title(printer, 'verified, offline, with `--allowed-signers`');
  for (const one of verified) printVerification(printer, one);
  title(printer, 'then a model, asked in plain words (`writ run --request`)');
  printModelRun(printer, model);
  title(printer, 'what to look at next');
  printer.table([
    ['  a page for people', `${out}/report.html`],
    ['  and in', `cd ${out}`],
  ]);
  printer.table(next.map(({ line, about }) => ['   ', styled('bold', line), styled('dim', `# ${about}`)]));
}

function title(printer: Printer, text: string): void {
  printer.line();
  printer.line(styled('bold', text));
}

function printSealed(printer: Printer, view: RunView): void {
  const { decision, spec, targetRef, stages, artifacts } = view;
  const isSealed = decision?.type === 'commit';
  title(printer, isSealed ? 'sealed' : 'not sealed');
  printer.line('  ', styled(isSealed ? 'green' : 'red', decision?.type ?? view.state), `  ${spec.summary}`);
  printer.line(styled('dim', `    ${decision?.rationale ?? ''}`));
  if (decision?.commitSha !== undefined) printer.line(`    ${decision.commitSha} on ${targetRef}`);
  printer.line();
  printer.table(
    stages.map(({ stage, status, ran, expected, checks }) => [
      `  ${stage}`,
      styled(status === 'passed' ? 'green' : 'yellow', status),
      `${ran} of ${toCount(expected, 'check')}`,
      checks.length === 0 ? '' : toDuration(toTimeSpan(checks).lengthMs),
      styled('dim', checks.map(({ id }) => id).join(' ')),
    ]),
  );
  const findings = allFindings(view).filter(({ severity }) => severity !== 'note');
  for (const { severity, rule, message } of findings)
    printer.line('  ', styled('yellow', severity), `  ${rule}  ${message}`);
  printer.line();
  printer.table(
    artifacts.map(({ name, sha256, sizeBytes }) => [
      `  ${name}`,
      styled('dim', `sha256:${sha256}`),
      toSize(sizeBytes),
    ]),
  );
}

function printSeal(printer: Printer, seal: Seal, verified: readonly VerifiedTarget[]): void {
  title(printer, 'approved by');
  printer.table(
    seal.approvals.map(({ principal, keyId, inProcess }) => [
      `  ${principal}`,
      inProcess ? styled('yellow', 'in process') : styled('green', 'signed'),
      styled('dim', keyId),
    ]),
  );
  printer.line(
    styled(
      'dim',
      "  in process: the demo signed for them, which only this sample's policy allows (`[approvals] in_process`)",
    ),
  );
  title(printer, 'signed and logged');
  printer.table(seal.statements.map(({ path, type }) => [`  ${path}`, styled('dim', type)]));
  printer.line(`  the manifest, signed last, lists all ${toCount(seal.listed, 'file')} of the run`);
  const checks = verified.flatMap(({ report }) => report.checks);
  const { detail } = checks.find(({ id }) => id === 'log-inclusion') ?? {};
  if (detail) printer.line(`  entry ${detail.index} of ${detail.size} in ${detail.origin}`);
  const people = seal.levels.some((level) => level.includes('TWO_PERSON'));
  printer.line(
    `  verdict ${seal.levels.join(', ')}`,
    styled('dim', people ? '' : '; not that two persons approved: only the demonstration signed'),
  );
}

function allFindings(view: RunView): readonly Finding[] {
  return [...view.findings, ...view.stages.flatMap((stage) => stage.findings)];
}

function errorsOf(view: RunView): readonly Finding[] {
  return allFindings(view).filter(({ severity }) => severity === 'error');
}
