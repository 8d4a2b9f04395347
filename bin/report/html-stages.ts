import { stageFindings } from '../../api/run/run-data.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { type CheckRecord, failureOutput, type StageRecord } from '../../core/contract/stage.ts';
import { limitExceeded } from '../../gates/rules/limit-exceeded.ts';
import { escapeHtml } from './escape-html.ts';
import { findingList } from './html-findings.ts';
import { toCount, toDuration } from './quantities.ts';
import { toStageWords } from './stage-words.ts';
import { type TimeSpan, toTimeSpan } from './time-span.ts';
import { toWrittenOutside } from './written-outside.ts';

/** Checks of a stage that are shown open; more that passed are folded away. */
const openChecks = 12;
const tones: Readonly<Record<string, string>> = {
  passed: 'good',
  failed: 'bad',
  waiting: 'open',
  skipped: '',
};

/** One card per stage: what failed in view, what passed folded away when it is much; bars on one common time scale. */
export function stageCards({ stages, artifacts }: Pick<RunView, 'stages' | 'artifacts'>): string {
  const scale = toTimeSpan(stages.flatMap((stage) => stage.checks));
  return stages.map((stage) => stageCard(stage, artifacts, scale)).join('');
}

function stageCard(stage: StageRecord, artifacts: RunView['artifacts'], scale: TimeSpan): string {
  const passed = stage.checks.filter((check) => check.status === 'passed');
  const others = stage.checks.filter((check) => check.status !== 'passed');
  const own = toTimeSpan(stage.checks);
  const count = `${escapeHtml(toStageWords(stage, artifacts))}${stage.checks.length === 0 ? '' : ` · ${toDuration(own.lengthMs)}`}`;
  const head = `<div class="stage-head"><h3>${escapeHtml(stage.stage)}</h3>${pill(stage.status)}<span class="soft">${count}</span></div>`;
  const open = stage.checks.length <= openChecks ? ' open' : '';
  const fold =
    passed.length === 0
      ? ''
      : `<details${open}><summary>${toCount(passed.length, 'check')} passed</summary>${checkTable(stage, passed, scale, 'passed')}</details>`;
  const attention = others.length === 0 ? '' : checkTable(stage, others, scale, 'not passed');
  return `<section class="card stage" aria-label="Stage ${escapeHtml(stage.stage)}">${head}${attention}${findingList(stageFindings(stage))}${fold}</section>`;
}

function checkTable(
  stage: StageRecord,
  checks: readonly CheckRecord[],
  scale: TimeSpan,
  which: string,
): string {
  return `<table class="checks" aria-label="Checks of stage ${escapeHtml(stage.stage)}, ${which}"><colgroup><col><col class="outcome"><col class="took"></colgroup><thead><tr><th scope="col">Check</th><th scope="col">Outcome</th><th scope="col">Time</th></tr></thead><tbody>${checks.map((check) => checkRow(check, scale)).join('')}</tbody></table>`;
}

function checkRow(check: CheckRecord, scale: TimeSpan): string {
  const about = [
    check.kind,
    ...(check.required ? [] : ['not required']),
    ...(check.fromPolicy ? ['of every change'] : []),
  ].join(', ');
  const tests = check.tests === undefined ? '' : `<br><span class="soft">${toTests(check)}</span>`;
  const written = toWrittenOutside(check);
  const outside =
    written === undefined ? '' : `<br><span class="soft"><bdi>${escapeHtml(written, 1000)}</bdi></span>`;
  const reason =
    check.status === 'failed' ? `<br><span class="soft">${escapeHtml(whyFailed(check))}</span>` : '';
  return `<tr><td><code><bdi>${escapeHtml(check.id, 128)}</bdi></code> <span class="soft">${about}</span><br><code class="soft"><bdi>${escapeHtml(check.command, 200)}</bdi></code></td><td>${pill(check.status)}${reason}${tests}${outside}</td><td>${toDuration(check.durationMs)}${bar(check, scale)}</td></tr>${outputRow(check)}`;
}

/** The last lines that a failed check printed, folded away. */
function outputRow(check: CheckRecord): string {
  const tail = failureOutput(check);
  if (tail === undefined) return '';
  return `<tr><td colspan="3"><details><summary>Output of <bdi>${escapeHtml(check.id, 128)}</bdi></summary><pre>${escapeHtml(tail.text, tail.text.length)}</pre></details></td></tr>`;
}

function toTests(check: CheckRecord): string {
  const { passed = 0, failed = 0, skipped = 0, flaky = 0 } = check.tests ?? {};
  return [
    `${toCount(passed, 'test')} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
  ].join(', ');
}

function whyFailed(check: CheckRecord): string {
  if (check.timedOut) return 'timed out';
  if (check.signal !== undefined) return limitExceeded(check) ?? check.signal;
  if (check.exitCode === undefined) return 'did not run';
  return check.exitCode === check.expectedExitCode
    ? `exit ${check.exitCode}`
    : `exit ${check.exitCode}, expected ${check.expectedExitCode}`;
}

/** Where the check lies in the run's time, and how long; an SVG, because the policy allows no inline style. */
function bar(check: CheckRecord, scale: TimeSpan): string {
  const at = Date.parse(check.startedAt);
  if (!Number.isFinite(at)) return '';
  const width = Math.min(100, Math.max(0.8, (check.durationMs / scale.lengthMs) * 100));
  const left = Math.min(100 - width, ((at - scale.startMs) / scale.lengthMs) * 100);
  const tone = check.status === 'failed' ? ' bad' : '';
  return `<svg class="bar${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="6"/></svg>`;
}

function pill(status: string): string {
  return `<span class="pill ${tones[status] ?? ''}">${escapeHtml(status)}</span>`;
}
