/* Prints and renders what became of the commits of a range: sealed, verified, approved. */
import type { ReleaseData } from '../../api/schemas/run-schema.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { pairs, section } from './html.ts';
import { escapeHtml, pageFrame, pageStyle } from './page-frame.ts';
import { toCount, toMinute } from './words.ts';

type Commit = ReleaseData['commits'][number];

/** Commits of a list; the rest is counted, and `--json` has all. */
const most = 1000;
/** Findings of a commit whose words are shown. */
const mostFound = 5;

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

function approvalWords({ total: { approvals, people }, commits }: ReleaseData): string {
  if (approvals === 0) return 'none';
  const own = commits.filter((one) => one.approvals_verified === false);
  const unverified = own.reduce((total, { approvers }) => total + approvers.length, 0);
  return `${approvals} by ${people} ${people === 1 ? 'person' : 'people'}${unverified === 0 ? '' : `, ${unverified === approvals ? 'all' : unverified} by the list in the repository alone`}`;
}

/** Each warning of `writ verify` once, with the number of commits that it is about. */
export function releaseWarnings({ warnings = [] }: ReleaseData): readonly string[] {
  const targets = Map.groupBy(warnings, ({ message }) => message);
  return [...targets].map(([message, { length }]) => `${toCount(length, 'commit')}: ${message}`);
}

/** `31b2… by NAME`: as verified, or as the record claims it. */
function signerWords({ signer }: Commit): string {
  if (signer === undefined) return '';
  const { trusted, key_id: key, identity, issuer } = signer;
  const by = key === undefined ? `${identity}, by ${issuer}` : `key ${key.slice(0, 16)}`;
  return `sealed with ${by}${trusted ? '' : ', which is not trusted here'}`;
}

/** Who made it, by which run and key, and how its checks ended. */
function originWords(one: Commit): readonly string[] {
  const { author, run_id: run, checks } = one;
  return [
    author === undefined ? '' : `by ${author}`,
    run === undefined ? '' : `run ${run.slice(0, 13)}`,
    signerWords(one),
    checks === undefined ? '' : `${checks.passed} of ${toCount(checks.expected, 'check')} passed`,
  ].filter((words) => words !== '');
}

/** Findings by severity, with their rules. */
function foundWords({ findings, found = [] }: Commit): readonly string[] {
  if (findings === undefined) return [];
  return (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const count = findings[`${severity}s`];
    const rules = new Set(found.filter((one) => one.severity === severity).map(({ rule }) => rule));
    return count === 0 ? [] : [`${toCount(count, severity)} (${[...rules].join(', ')})`];
  });
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

/** What people and rules said of a commit, or why it is not verified. */
function aboutWords(one: Commit): readonly string[] {
  const { approvers, waivers, why, verified, approvals_verified: isVerified } = one;
  const list = isVerified === false ? ' (by the list in the repository alone)' : '';
  return [
    ...(verified || why === undefined ? [] : [why]),
    ...(approvers.length === 0 ? [] : [`approved by ${approvers.join(', ')}${list}`]),
    ...foundWords(one),
    ...(waivers.length === 0 ? [] : [`${toCount(waivers.length, 'waiver')} used`]),
  ];
}

/** When it was sealed, else when its author made it. */
function dateOf({ decided_at: decided, authored_at: authored }: Commit): string {
  return decided ?? authored ?? '';
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
    [styled('dim', '  approvals'), approvalWords(data)],
    [styled('dim', '  waivers'), String(total.waivers)],
    ...modelLines(commits).map((line, n) => [styled('dim', n === 0 ? '  models' : ''), line]),
  ]);
  printer.line();
  for (const one of commits.slice(0, most)) {
    const state = stateOf(one);
    const date = dateOf(one).slice(0, 10).padEnd(10);
    const title = one.summary ?? one.subject;
    printer.line(
      styled(tones[state][0], state.padEnd(12)),
      `  ${one.commit.slice(0, 12)}  ${date}  `,
      styled('bold', title),
    );
    for (const words of [originWords(one), aboutWords(one)])
      if (words.length > 0) printer.line(' '.repeat(14), styled('dim', words.join('; ')));
  }
  if (commits.length > most)
    printer.line(styled('dim', `and ${commits.length - most} more; \`--json\` has all`));
}

/** One self-contained page under the same rules as the page of a run. */
export function renderReleaseHtml(data: ReleaseData): string {
  const { range, total, commits } = data;
  const isGood = total.verified === total.commits;
  const tone = isGood ? 'good' : commits.some(({ sealed, verified }) => sealed && !verified) ? 'bad' : 'open';
  const groups = [
    ['lacking', 'Not sealed or not verified', commits.filter(({ verified }) => !verified)],
    ['commits', 'Sealed and verified', commits.filter(({ verified }) => verified)],
  ] as const;
  const warnings = releaseWarnings(data);
  const waivers = commits.flatMap((one) =>
    one.waivers.map((waiver) => `${one.commit.slice(0, 12)}: ${waiver}`),
  );
  const facts = [
    ['Commits', total.commits],
    ['Sealed', total.sealed],
    ['Verified', total.verified],
    ['Approvals', approvalWords(data)],
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
${
  warnings.length === 0
    ? ''
    : `<ul class="notices small">${warnings
        .slice(0, 20)
        .map((one) => `<li><bdi>${escapeHtml(one, 1000)}</bdi></li>`)
        .join('')}</ul>`
}
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>
</section>
${groups.map(([id, title, some]) => (some.length === 0 ? '' : section(id, `${title}, the oldest first`, commitTable(some, title)))).join('\n')}
${waivers.length === 0 ? '' : section('waivers', 'Waivers', pairs([['Used', waivers]]))}
${total.model_calls === 0 ? '' : section('models', 'Models and agents', pairs([['Called', modelLines(commits)]]))}
${section('next', 'Commands that show more', `<ul class="next card"><li><p class="small soft">verifies the range again, with the key of the signer and your own list of people</p><pre><code><bdi>${escapeHtml(`writ verify ${range} --key FILE --allowed-signers FILE`, 512)}</bdi></code></pre></li></ul>`)}`,
    foot: `Made from the stored objects of ${shown}, verified with the keys that the maker of this page trusts. This page is a summary; the signed statements and the log are the proof.`,
  });
}

function commitTable(commits: readonly Commit[], name: string): string {
  const rows = commits.slice(0, most).map((one) => {
    const state = stateOf(one);
    const spec =
      one.spec_id === undefined ? '' : `${one.change_type}, ${one.risk_level} risk, spec ${one.spec_id}`;
    const origin = originWords(one)
      .map((words) => `<br><span class="soft"><bdi>${escapeHtml(words, 600)}</bdi></span>`)
      .join('');
    const about = aboutWords(one).map((words) => `<bdi>${escapeHtml(words, 1000)}</bdi>`);
    const found = (one.found ?? [])
      .slice(0, mostFound)
      .map(
        ({ severity, rule, message, path }) =>
          `<span class="soft">${severity} <code><bdi>${escapeHtml(rule, 128)}</bdi></code> <bdi>${escapeHtml(path === undefined ? message : `${path}: ${message}`, 300)}</bdi></span>`,
      );
    return `<tr><td><bdi>${escapeHtml(one.summary ?? one.subject, 256)}</bdi><br><code class="soft"><bdi>${escapeHtml(one.commit, 64)}</bdi></code><br><span class="soft"><bdi>${escapeHtml(spec, 300)}</bdi></span>${origin}</td><td><span class="pill ${tones[state][1]}">${state}</span><br><span class="soft">${escapeHtml(toMinute(dateOf(one)), 64)}</span></td><td>${[...about, ...found].join('<br>')}</td></tr>`;
  });
  const rest =
    commits.length > most
      ? `<tr><td colspan="3" class="soft">and ${commits.length - most} more; <code>--json</code> has all</td></tr>`
      : '';
  return `<div class="card"><table aria-label="${name}"><colgroup><col><col class="outcome"><col class="took"></colgroup><thead><tr><th scope="col">Commit and spec</th><th scope="col">State</th><th scope="col">People and findings</th></tr></thead><tbody>${rows.join('')}${rest}</tbody></table></div>`;
}
