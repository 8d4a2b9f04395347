/* Prints and renders what became of the commits of a range: sealed, verified, approved. */
import type { ReleaseData } from '../../api/schemas/run-schema.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { pairs, section } from './html.ts';
import { escapeHtml, pageFrame, pageStyle } from './page-frame.ts';
import { toCount, toMinute } from './words.ts';

type Commit = ReleaseData['commits'][number];

/** Commits of a list; the rest is counted, and `--json` has all. */
const most = 1000;

/** Whether every commit is sealed and verified, in one sentence. */
function releaseWords({ total: { commits, sealed, verified } }: ReleaseData): string {
  const all = toCount(commits, 'commit');
  if (verified === commits) return `${all}, all sealed and verified`;
  const parts = [
    `${verified} sealed and verified`,
    ...(sealed > verified ? [`${sealed - verified} sealed but not verified`] : []),
    ...(commits > sealed ? [`${commits - sealed} not sealed`] : []),
  ];
  return `${all}: ${parts.join(', ')}`;
}

function stateOf({ sealed, verified }: Commit): 'verified' | 'not verified' | 'not sealed' {
  return verified ? 'verified' : sealed ? 'not verified' : 'not sealed';
}

function approvalWords({ approvals, people }: ReleaseData['total']): string {
  return approvals === 0 ? 'none' : `${approvals} by ${people} ${people === 1 ? 'person' : 'people'}`;
}

/** Calls by model, external agents by digest. */
function modelLines(commits: readonly Commit[]): readonly string[] {
  const calls = new Map<string, number>();
  for (const { provider, model, calls: count, agent, agent_sha256: sha256 } of commits.flatMap(
    (one) => one.models,
  )) {
    const by = agent === undefined ? '' : ` by ${agent} sha256:${sha256}`;
    const name = `${provider} ${model}${by}`;
    calls.set(name, (calls.get(name) ?? 0) + count);
  }
  return [...calls].map(([name, count]) => `${name}: ${toCount(count, 'call')}`);
}

/** What a commit says beside its name: approvers, findings, waivers, or why it is not verified. */
function aboutWords({ approvers, findings, waivers, why, verified }: Commit): string {
  return [
    ...(verified || why === undefined ? [] : [why]),
    ...(approvers.length === 0 ? [] : [`approved by ${approvers.join(', ')}`]),
    ...(findings === undefined || findings.warnings === 0 ? [] : [toCount(findings.warnings, 'warning')]),
    ...(findings === undefined || findings.errors === 0 ? [] : [toCount(findings.errors, 'error')]),
    ...(waivers.length === 0 ? [] : [`${toCount(waivers.length, 'waiver')} used`]),
  ].join('; ');
}

const tones = {
  verified: ['green', 'good'],
  'not verified': ['red', 'bad'],
  'not sealed': ['yellow', 'open'],
} as const;

export function printRelease(printer: Printer, data: ReleaseData): void {
  const { range, total, commits } = data;
  printer.line(styled('bold', range), `  ${releaseWords(data)}`);
  if (printer.quiet) return;
  printer.table([
    [styled('dim', '  approvals'), approvalWords(total)],
    [styled('dim', '  waivers'), String(total.waivers)],
    ...modelLines(commits).map((line, n) => [styled('dim', n === 0 ? '  models' : ''), line]),
  ]);
  printer.line();
  printer.table(
    commits
      .slice(0, most)
      .map((one) => [
        styled(tones[stateOf(one)][0], stateOf(one)),
        one.commit.slice(0, 12),
        one.summary ?? one.subject,
        styled('dim', aboutWords(one)),
      ]),
  );
  if (commits.length > most)
    printer.line(styled('dim', `and ${commits.length - most} more; \`--json\` has all`));
}

/** One self-contained page under the same rules as the page of a run. */
export function renderReleaseHtml(data: ReleaseData): string {
  const { range, total, commits } = data;
  const isGood = total.verified === total.commits;
  const tone = isGood ? 'good' : commits.some(({ sealed, verified }) => sealed && !verified) ? 'bad' : 'open';
  const lacking = commits.filter(({ verified }) => !verified);
  const waivers = commits.flatMap((one) =>
    one.waivers.map((waiver) => `${one.commit.slice(0, 12)}: ${waiver}`),
  );
  const facts = [
    ['Commits', total.commits],
    ['Sealed', total.sealed],
    ['Verified', total.verified],
    ['Approvals', approvalWords(total)],
    ['Waivers used', total.waivers],
    ['Model calls', total.model_calls],
  ] as const;
  const shown = `<code><bdi>${escapeHtml(range, 300)}</bdi></code>`;
  return pageFrame({
    title: `${range}: ${releaseWords(data)}`,
    style: pageStyle,
    head: `<span><strong>writ</strong> release ${shown}</span>`,
    main: `<section class="card decision ${tone}" aria-labelledby="decision">
<h1 id="decision">${isGood ? 'Sealed and verified' : 'Not all of it is sealed and verified'}</h1>
<p class="message lead"><bdi>${escapeHtml(range, 200)}</bdi>: ${escapeHtml(releaseWords(data))}.</p>
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>
</section>
${lacking.length === 0 ? '' : section('lacking', 'Not sealed or not verified', commitTable(lacking, 'Not sealed or not verified'))}
${section('commits', 'Commits, the oldest first', commitTable(commits, 'Commits'))}
${waivers.length === 0 ? '' : section('waivers', 'Waivers', pairs([['Used', waivers]]))}
${total.model_calls === 0 ? '' : section('models', 'Models and agents', pairs([['Called', modelLines(commits)]]))}
${section('next', 'Commands that show more', `<ul class="next card"><li><p class="small soft">verifies the range again; with your own list of signers, approvals count</p><pre><code><bdi>${escapeHtml(`writ verify ${range} --allowed-signers FILE`, 512)}</bdi></code></pre></li></ul>`)}`,
    foot: `Made from the stored objects of ${shown}, verified with the keys that this user trusts. This page is a summary; the signed statements and the log are the proof.`,
  });
}

function commitTable(commits: readonly Commit[], name: string): string {
  const rows = commits.slice(0, most).map((one) => {
    const state = stateOf(one);
    const spec =
      one.spec_id === undefined ? '' : `${one.change_type}, ${one.risk_level} risk, spec ${one.spec_id}`;
    const at = one.decided_at === undefined ? '' : toMinute(one.decided_at);
    return `<tr><td><bdi>${escapeHtml(one.summary ?? one.subject, 256)}</bdi><br><code class="soft"><bdi>${escapeHtml(one.commit, 64)}</bdi></code><br><span class="soft"><bdi>${escapeHtml(spec, 300)}</bdi></span></td><td><span class="pill ${tones[state][1]}">${state}</span><br><span class="soft">${escapeHtml(at, 64)}</span></td><td><bdi>${escapeHtml(aboutWords(one), 1000)}</bdi></td></tr>`;
  });
  const rest =
    commits.length > most
      ? `<tr><td colspan="3" class="soft">and ${commits.length - most} more; <code>--json</code> has all</td></tr>`
      : '';
  return `<div class="card"><table aria-label="${name}"><colgroup><col><col class="outcome"><col class="took"></colgroup><thead><tr><th scope="col">Commit and spec</th><th scope="col">State</th><th scope="col">People and findings</th></tr></thead><tbody>${rows.join('')}${rest}</tbody></table></div>`;
}
