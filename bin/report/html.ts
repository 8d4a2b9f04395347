/* Renders a run as one HTML page. */
import { stageFindings } from '../../api/run/run-data.ts';
import { toVerdict } from '../../api/run/verdict.ts';
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type CheckRecord, failureOutput, type StageRecord } from '../../core/interfaces/stage.ts';
import { limitExceeded } from '../../gates/rules/check-outcome.ts';
import { escapeHtml, pageFrame, pageStyle } from './page-frame.ts';
import {
  modelWords,
  pluginWords,
  type TimeSpan,
  toCount,
  toDuration,
  toSealedCommit,
  toSize,
  toStageWords,
  toTimeSpan,
  toWrittenOutside,
} from './words.ts';

/** Findings in view, and those that can be unfolded; the rest is counted. */
const open = 20;
const mostFindings = 200;
const findingTones: Readonly<Record<Severity, string>> = { error: 'bad', warning: 'open', note: '' };

/** A list of findings, errors first, bounded; the empty string where there is none. */
function findingList(findings: readonly { readonly finding: Finding; readonly checkId?: string }[]): string {
  if (findings.length === 0) return '';
  const order: readonly Severity[] = ['error', 'warning', 'note'];
  const sorted = order.flatMap((severity) => findings.filter(({ finding }) => finding.severity === severity));
  const items = sorted.slice(0, mostFindings).map(({ finding, checkId }) => {
    const place =
      finding.path === undefined
        ? ''
        : `${finding.path}${finding.line === undefined ? '' : `:${finding.line}`}${finding.column === undefined ? '' : `:${finding.column}`}`;
    const where = [
      checkId === undefined ? '' : `check <code><bdi>${escapeHtml(checkId, 128)}</bdi></code>`,
      place === '' ? '' : `<code><bdi>${escapeHtml(place, 1024)}</bdi></code>`,
    ]
      .filter((part) => part !== '')
      .join(' · ');
    return `<li><span class="pill ${findingTones[finding.severity]}">${finding.severity}</span> <code><bdi>${escapeHtml(finding.rule, 128)}</bdi></code> <span class="message"><bdi>${escapeHtml(finding.message, 2000)}</bdi></span>${where === '' ? '' : `<span class="where">${where}</span>`}</li>`;
  });
  const rest = findings.length - items.length;
  const shown = `<ul class="findings">${items.slice(0, open).join('')}</ul>`;
  if (items.length <= open) return shown;
  const end = rest > 0 ? `<li class="soft">and ${rest} beyond these</li>` : '';
  return `${shown}<details><summary>${findings.length - open} more findings</summary><ul class="findings">${items.slice(open).join('')}${end}</ul></details>`;
}

/**
 * Renders one run as a self-contained page without scripts, requests or external links. All untrusted text is
 * escaped. Long lists are cut at fixed lengths, with a note.
 */
export function renderRunHtml(view: RunView): string {
  const verdict = toVerdict(view);
  const sections = [
    section('stages', 'Stages', stageCards(view)),
    section('findings', 'Findings of the patch', findingsOf(view)),
    ...(view.patch === undefined
      ? []
      : [section('change', 'Change', `<div class="card">${patchTable(view.patch)}</div>`)]),
    section('evidence', 'Evidence', artifactTable(view.artifacts)),
    section('provenance', 'Provenance and proof', provenanceOf(view)),
    section('next', 'What to verify next', nextOf(verdict.next)),
  ];
  const runId = `<code><bdi>${escapeHtml(view.runId, 128)}</bdi></code>`;
  const startedAt = escapeHtml(view.startedAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'), 64);
  return pageFrame({
    title: `${verdict.word}: ${view.spec.summary}`,
    style: pageStyle,
    head: `<span><strong>writ</strong> run ${runId}</span><time datetime="${escapeHtml(view.startedAt, 64)}">${startedAt}</time>`,
    main: `${decisionCard(view, verdict)}\n${sections.join('\n')}`,
    foot: `Made from the stored objects of run ${runId}. This page is a summary; the signed statement and the log are the proof.`,
  });
}

function decisionCard(view: RunView, verdict: ReturnType<typeof toVerdict>): string {
  const checks = view.stages.flatMap((stage) => stage.checks);
  const tests = checks.flatMap((check) => check.tests ?? []);
  const files = view.patch?.files ?? [];
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const facts: readonly (readonly [string, string | undefined])[] = [
    [
      'Stages',
      `${view.stages.filter((stage) => stage.status === 'passed').length} passed of ${view.stages.filter((stage) => stage.expected > 0).length}`,
    ],
    [
      'Checks',
      `${checks.filter((check) => check.status === 'passed').length} passed of ${sum(view.stages.map((stage) => stage.expected))}`,
    ],
    [
      'Tests',
      tests.length === 0
        ? undefined
        : sum(tests.map((one) => one.failed)) === 0
          ? `${sum(tests.map((one) => one.passed))} passed`
          : `${sum(tests.map((one) => one.failed))} failed of ${sum(tests.map((one) => one.passed + one.failed))}`,
    ],
    [
      'Change',
      files.length === 0
        ? undefined
        : `${toCount(files.length, 'file')} +${sum(files.map((file) => file.linesAdded))} −${sum(files.map((file) => file.linesDeleted))}`,
    ],
    ['Risk', view.spec.riskLevel],
    ['Type', view.spec.changeType],
    [
      'Took',
      view.finishedAt === undefined
        ? undefined
        : toDuration(Date.parse(view.finishedAt) - Date.parse(view.startedAt)),
    ],
  ];
  return `<section class="card decision ${verdict.tone}" aria-labelledby="decision">
<h1 id="decision">${verdict.word}</h1>
<p class="summary"><bdi>${escapeHtml(view.spec.summary, 256)}</bdi></p>
<p class="message"><bdi>${escapeHtml(verdict.sentence)}</bdi></p>
${commitOf(view)}
<dl class="facts">${facts.map(([name, value]) => (value === undefined ? '' : `<div><dt>${name}</dt><dd>${escapeHtml(value, 64)}</dd></div>`)).join('')}</dl>
</section>
<nav aria-label="Sections"><ul><li><a href="#stages">Stages</a></li><li><a href="#findings">Findings</a></li>${view.patch === undefined ? '' : '<li><a href="#change">Change</a></li>'}<li><a href="#evidence">Evidence</a></li><li><a href="#provenance">Provenance</a></li><li><a href="#next">Verify</a></li></ul></nav>`;
}

function commitOf(view: RunView): string {
  const commit = toSealedCommit(view);
  if (commit === undefined) return '';
  const sha = `<code><bdi>${escapeHtml(commit.sha, 128)}</bdi></code>`;
  const ref = `<code><bdi>${escapeHtml(view.targetRef, 256)}</bdi></code>`;
  return `<p class="commit small">${commit.onBranch ? `commit ${sha} on ${ref}` : `commit object ${sha} was made, but not put on ${ref}`}</p>`;
}

function findingsOf(view: RunView): string {
  const list = findingList(view.findings.map((finding) => ({ finding })));
  return list === ''
    ? '<p class="card soft">The patch rules found nothing.</p>'
    : `<div class="card">${list}</div>`;
}

function provenanceOf(view: RunView): string {
  const { provenance, decision, patch, spec } = view;
  const missing =
    provenance?.bundle === undefined
      ? '<p class="card soft">No signed provenance: nothing was sealed by this run.</p>'
      : '';
  return `${missing}${pairs([
    ['Bundle', provenance?.bundle],
    ['Log proof', provenance?.proof],
    ['Signing key', provenance?.keyId],
    ['Log', provenance?.logOrigin],
    ['Log index', provenance?.logIndex],
    ['Decision SHA-256', decision?.decisionDigest],
    ['IntentSpec', spec.id],
    ['IntentSpec SHA-256', spec.digest],
    ['Patchset SHA-256', patch?.digest],
    ['Candidate tree', patch?.candidateTree],
    ['Base commit', view.baseCommit],
    ['Policy commit', view.policyCommit],
    ['Policy of', view.policyRef],
    ['Target ref', view.targetRef],
    ['Sandbox', view.sandbox],
    ['Thread', view.threadId],
    ...(provenance?.plugins ?? []).map((plugin): readonly [string, string] => [
      `Plugin ${plugin.name}`,
      `sha256:${plugin.sha256} ${pluginWords(plugin)}`,
    ]),
    ...(provenance?.models ?? []).map((work): readonly [string, string] => [
      'Model',
      modelWords(work).join('; '),
    ]),
  ])}`;
}

function nextOf(next: ReturnType<typeof toVerdict>['next']): string {
  return `<ul class="next card">${next.map(({ line, about }) => `<li><p class="small soft">${escapeHtml(about)}</p><pre><code><bdi>${escapeHtml(line, 512)}</bdi></code></pre></li>`).join('')}</ul>`;
}

function section(id: string, title: string, body: string): string {
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`;
}

/** Rows shown per table; the rest is counted. */
const most = 500;

/** Changed files of the patch, folded away beyond a dozen. */
function patchTable(patch: NonNullable<RunView['patch']>): string {
  const rows = patch.files
    .slice(0, most)
    .map(
      (file) =>
        `<tr><td><code><bdi>${escapeHtml(file.path, 1024)}</bdi></code></td><td class="change">${escapeHtml(file.changeType)}</td><td class="right counts">+${file.linesAdded} −${file.linesDeleted}</td></tr>`,
    );
  return `<details${patch.files.length <= 12 ? ' open' : ''}><summary>${toCount(patch.files.length, 'file')} changed</summary><table aria-label="Changed files"><thead><tr><th scope="col">File</th><th scope="col" class="change">Change</th><th scope="col" class="right counts">Lines</th></tr></thead><tbody>${rows.join('')}${more(patch.files.length, 3)}</tbody></table></details>`;
}

/** Every artifact with its whole digest. */
function artifactTable(artifacts: RunView['artifacts']): string {
  if (artifacts.length === 0) return '<p class="card soft">No artifact was recorded.</p>';
  const rows = artifacts.slice(0, most).map((artifact) => {
    const about = [
      escapeHtml(artifact.stage, 64),
      ...(artifact.checkId === undefined ? [] : [`<bdi>${escapeHtml(artifact.checkId, 128)}</bdi>`]),
      `<bdi>${escapeHtml(artifact.contentType, 128)}</bdi>`,
      ...(artifact.redactions === undefined || artifact.redactions === 0
        ? []
        : [toCount(artifact.redactions, 'redaction')]),
      ...(artifact.expiresAt === undefined
        ? []
        : [`kept until <time>${escapeHtml(artifact.expiresAt.slice(0, 10), 32)}</time>`]),
    ].join(' · ');
    return `<tr><td><bdi>${escapeHtml(artifact.name, 128)}</bdi> <span class="soft">${about}</span><br><code class="soft"><bdi>${escapeHtml(artifact.sha256, 128)}</bdi></code></td><td class="right size">${toSize(artifact.sizeBytes)}</td></tr>`;
  });
  const table = `<table aria-label="Artifacts"><thead><tr><th scope="col">Artifact and its SHA-256</th><th scope="col" class="right size">Size</th></tr></thead><tbody>${rows.join('')}${more(artifacts.length, 2)}</tbody></table>`;
  if (artifacts.length <= 40) return `<div class="card">${table}</div>`;
  return `<div class="card"><details><summary>${toCount(artifacts.length, 'artifact')}</summary>${table}</details></div>`;
}

/** Names and values, absent ones left out. */
function pairs(entries: readonly (readonly [string, string | number | undefined])[]): string {
  const rows = entries
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `<dt>${escapeHtml(name)}</dt><dd class="mono"><bdi>${escapeHtml(String(value))}</bdi></dd>`,
    );
  return `<dl class="pairs card">${rows.join('')}</dl>`;
}

function more(total: number, columns: number): string {
  return total > most
    ? `<tr><td colspan="${columns}" class="soft">and ${total - most} more; <code>writ show RUN --json</code> has all</td></tr>`
    : '';
}

/** Checks of a stage that are shown open; more that passed are folded away. */
const openChecks = 12;
const tones: Readonly<Record<string, string>> = {
  passed: 'good',
  failed: 'bad',
  waiting: 'open',
  skipped: '',
};

/** One card per stage: what failed in view, what passed folded away when it is much; bars on one common time scale. */
function stageCards({ stages, artifacts }: Pick<RunView, 'stages' | 'artifacts'>): string {
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

/**
 * Renders a check's position and duration on the run's time axis. It is an SVG, because the content security policy
 * forbids inline styles.
 */
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
