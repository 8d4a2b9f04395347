import { toVerdict } from '../../api/run/verdict.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { escapeHtml } from './escape-html.ts';
import { artifactTable, pairs, patchTable } from './html-evidence.ts';
import { findingList } from './html-findings.ts';
import { stageCards } from './html-stages.ts';
import { pageFrame } from './page-frame.ts';
import { pageStyle } from './page-style.ts';
import { pluginWords } from './plugin-words.ts';
import { toCount, toDuration } from './quantities.ts';
import { toSealedCommit } from './sealed-commit.ts';

/**
 * One run as one self-contained page: no script, no request, no link out; everything from outside is escaped.
 * Size is bounded: lists are cut at fixed counts and say so.
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
  ])}`;
}

function nextOf(next: ReturnType<typeof toVerdict>['next']): string {
  return `<ul class="next card">${next.map(({ line, about }) => `<li><p class="small soft">${escapeHtml(about)}</p><pre><code><bdi>${escapeHtml(line, 512)}</bdi></code></pre></li>`).join('')}</ul>`;
}

function section(id: string, title: string, body: string): string {
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`;
}
