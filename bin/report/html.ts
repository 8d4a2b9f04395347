/* Renders a run as one HTML page. */
import type { RunAudit } from '../../api/run/audit.ts';
import { runFindings, stageFindings } from '../../api/run/run-data.ts';
import { showLine, toVerdict } from '../../api/run/verdict.ts';
import { verificationRefusal, warningsOf } from '../../api/verify/verification-data.ts';
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type CheckRecord, failureOutput, type StageRecord } from '../../core/interfaces/stage.ts';
import { usedWaivers } from '../../engine/config/waivers.ts';
import { limitExceeded } from '../../gates/rules/check-outcome.ts';
import { escapeHtml, pageFrame, pageStyle } from './page-frame.ts';
import {
  modelWords,
  pluginWords,
  shortRef,
  type TimeSpan,
  toCount,
  toDuration,
  toMinute,
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
 * Renders one run as a self-contained page for an auditor: outcome, people, intent, change, checks, findings, seal. No
 * scripts, requests or external links. All untrusted text is escaped. Long lists are cut at fixed lengths, with a note.
 */
export function renderRunHtml(
  view: RunView,
  audit: RunAudit = { people: view.waiting?.people ?? [] },
): string {
  const verdict = toVerdict(view);
  const isWaiting = verdict.word === 'Waiting';
  const findings = ['findings', 'Findings', findingsOf(view)] as const;
  const isRefused = view.decision?.type === 'abandon';
  const parts: readonly (readonly [id: string, title: string, body: string])[] = [
    ...(isRefused ? [findings] : []),
    ['people', 'People', peopleOf(view, audit)],
    ['intent', 'What was asked for', intentOf(view, audit)],
    ['change', 'Change', changeOf(view, audit)],
    ['checks', 'Checks', stageCards(view)],
    ...(isRefused ? [] : [findings]),
    ['seal', 'Policy, seal and log', sealOf(view, audit)],
    ['waivers', 'Waivers', textList(usedWaivers(view.notices ?? []), 'No waiver was used.')],
    ['parties', 'Plugins, models and agents', partiesOf(view, audit)],
    ['evidence', 'Evidence', artifactTable(view.artifacts)],
    ['record', 'Digests of the record', recordOf(view)],
    ...(isWaiting || verdict.next.length === 0
      ? []
      : ([['next', 'Commands that show more', nextOf(verdict.next)]] as const)),
  ];
  const runId = `<code><bdi>${escapeHtml(view.runId, 128)}</bdi></code>`;
  return pageFrame({
    title: `${verdict.word}: ${view.spec.summary}`,
    style: pageStyle,
    head: `<span><strong>writ</strong> run ${runId}</span><time datetime="${escapeHtml(view.startedAt, 64)}">${escapeHtml(toMinute(view.startedAt), 64)}</time>`,
    main: `${decisionCard(view, verdict, audit)}
<nav aria-label="Sections"><ul>${parts.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul></nav>
${parts.map(([id, title, body]) => section(id, title, body)).join('\n')}`,
    foot: `Made from the stored objects of run ${runId}. This page is a summary; the signed statement and the log are the proof.`,
  });
}

function decisionCard(view: RunView, verdict: ReturnType<typeof toVerdict>, audit: RunAudit): string {
  const tests = view.stages.flatMap(({ checks }) => checks).flatMap((check) => check.tests ?? []);
  const files = view.patch?.files ?? [];
  const failed = sum(tests.map((one) => one.failed));
  const passed = sum(tests.map((one) => one.passed));
  const facts: readonly (readonly [string, string | undefined])[] = [
    [
      'Tests',
      tests.length === 0
        ? undefined
        : failed === 0
          ? `${passed} passed`
          : `${failed} failed of ${passed + failed}`,
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
  const waivers = usedWaivers(view.notices ?? []);
  const warnings = audit.verified === undefined ? [] : warningsOf(audit.verified);
  const notices = [...warnings.map(({ message }) => message), ...(view.notices ?? [])]
    .filter((notice) => !waivers.includes(notice))
    .slice(0, open);
  const steps = verdict.next.filter(({ line }) => line !== showLine(view));
  return `<section class="card decision ${verdict.tone}" aria-labelledby="decision">
<h1 id="decision">${verdict.word}</h1>
<p class="message lead"><bdi>${escapeHtml(outcomeWords(view, verdict.sentence, audit.people))}</bdi></p>
<p class="summary"><bdi>${escapeHtml(view.spec.summary, 256)}</bdi></p>
${commitOf(view)}
${verdict.word === 'Waiting' && steps.length > 0 ? `<h2>To go on</h2>${commandList(steps)}` : ''}
${notices.length === 0 ? '' : `<ul class="notices small">${notices.map((notice) => `<li><bdi>${escapeHtml(notice, 1000)}</bdi></li>`).join('')}</ul>`}
<dl class="facts">${facts.map(([name, value]) => (value === undefined ? '' : `<div><dt>${name}</dt><dd>${escapeHtml(value, 64)}</dd></div>`)).join('')}</dl>
</section>`;
}

/** The outcome in one or two sentences; what did not commit says its reason (`sentence`) first. */
function outcomeWords(view: RunView, sentence: string, people: RunAudit['people']): string {
  const { decision, stages, finishedAt, targetRef } = view;
  const on = finishedAt === undefined ? '' : ` on ${toMinute(finishedAt)}`;
  if (decision?.type === 'abandon') return `Refused${on}: ${sentence}`;
  if (decision?.type === 'rollback') return `Rolled back${on}: ${sentence}`;
  if (decision?.type !== 'commit') return sentence;
  const passed = stages.flatMap(({ checks }) => checks).filter(({ status }) => status === 'passed').length;
  const expected = sum(stages.map((stage) => stage.expected));
  const errors = runFindings(view).filter(({ severity }) => severity === 'error').length;
  const approved = new Set(
    people
      .filter((one) => one.status === 'counts' && one.decision === 'approve')
      .map(({ principal }) => principal),
  ).size;
  const waivers = usedWaivers(view.notices ?? []).length;
  const said = [
    `${passed} of ${toCount(expected, 'check')} passed`,
    errors === 0 ? 'no rule reported an error' : `${toCount(errors, 'error')} reported`,
    approved === 0 ? '' : `${approved} ${approved === 1 ? 'person' : 'people'} approved`,
    waivers === 0 ? '' : `${toCount(waivers, 'waiver')} ${waivers === 1 ? 'was' : 'were'} used`,
  ];
  const rationale = /^\d+ of \d+ checks passed/.test(decision.rationale) ? '' : ` ${decision.rationale}.`;
  return `Committed to ${shortRef(targetRef)}${on}. ${said.filter((part) => part !== '').join('; ')}.${rationale}`;
}

function commitOf(view: RunView): string {
  const commit = toSealedCommit(view);
  if (commit === undefined) return '';
  const sha = `<code><bdi>${escapeHtml(commit.sha, 128)}</bdi></code>`;
  const ref = `<code><bdi>${escapeHtml(view.targetRef, 256)}</bdi></code>`;
  return `<p class="commit small">${commit.noun} ${sha} ${commit.relation} ${ref}</p>`;
}

/** What demanded approvals, one sentence each. */
function demandWords({ demands, people }: RunAudit): string {
  const named = (demands ?? []).slice(0, open).map(({ by, needed, check, owned }) => {
    const count = toCount(needed, 'approval');
    const where = check === undefined ? '' : `, in its check \`${check.id}\` (\`${check.command}\`)`;
    if (owned !== undefined)
      return `The file \`.writ/owners\` asks for an approval by ${owned.owners.join(' or ')}, for changes of \`${owned.pattern}\`.`;
    if (by === 'writ') return `writ asks for ${count} of a change to its own policy files.`;
    return `${by === 'spec' ? 'The spec' : 'The policy of the repository'} asks for ${count}${where}.`;
  });
  if (named.length > 0 || demands === undefined) return named.join(' ');
  return people.some(({ status }) => status === 'counts')
    ? 'The record does not show what asked for an approval.'
    : 'No approval was asked for: not by the spec, the policy of the repository or its owners.';
}

/** Whose list of signers says that an approval counts. */
function listWords({ people, verified }: RunAudit): string {
  if (!people.some(({ status }) => status === 'counts')) return '';
  const own = 'Whether an approval counts is by the list of signers in the repository';
  const check = verified?.report.checks.find(({ id }) => id === 'approvals');
  if (check?.status === 'passed') return `${own}; the given list (\`--allowed-signers\`) confirms it.`;
  return check === undefined || check.code === 'per-repository'
    ? `${own} alone, not by a list of the reader (\`--allowed-signers FILE\`).`
    : `${own}. Verifying it ended as: ${check.status}${check.code === undefined ? '' : `, ${check.code}`}.`;
}

/** Who signed what, with which key, and whether it counts. */
function peopleOf(view: RunView, audit: RunAudit): string {
  const { people, verified } = audit;
  const asked = `<bdi>${escapeHtml(`${demandWords(audit)} ${listWords(audit)}`.trim(), 4000)}</bdi>`;
  const seal = sealRow(view, verified);
  if (people.length === 0 && seal === '') return `<p class="card soft">No one signed. ${asked}</p>`;
  const rows = people
    .slice(0, most)
    .map(({ principal, keyId, decision, status, detail, role, inProcess, signedAt, comment }) => {
      const counts = status === 'counts';
      const about = [role === undefined ? '' : `as ${role}`, inProcess ? 'signed in writ’s own process' : '']
        .filter((words) => words !== '')
        .join(', ');
      const why =
        status === 'unjudged'
          ? 'not verified: the policy commit is not here'
          : counts
            ? 'counts'
            : `does not count: ${status}`;
      const word = `<span class="pill ${!counts ? '' : decision === 'approve' ? 'good' : 'bad'}">${decision === 'approve' ? 'approved' : 'rejected'}</span>`;
      return `<tr><td><bdi>${escapeHtml(principal || 'unknown', 256)}</bdi> <span class="soft"><bdi>${escapeHtml(about, 200)}</bdi></span><br><code class="soft"><bdi>${escapeHtml(keyId || 'no key', 128)}</bdi></code>${comment === undefined ? '' : `<br><span class="message"><bdi>${escapeHtml(comment, 1000)}</bdi></span>`}</td><td>${word}<br><span class="soft"><bdi>${escapeHtml(detail === undefined ? why : `${why}; ${detail}`, 400)}</bdi></span></td><td>${signedAt === undefined ? '' : escapeHtml(toMinute(signedAt), 64)}</td></tr>`;
    });
  return `<div class="card"><p class="small soft">${people.length === 0 ? 'No one approved.' : ''} ${asked}</p><table aria-label="People"><colgroup><col><col class="outcome"><col class="when"></colgroup><thead><tr><th scope="col">Person and key</th><th scope="col">Said</th><th scope="col">Signed</th></tr></thead><tbody>${rows.join('')}${more(people.length, 3)}${seal}</tbody></table></div>`;
}

/** The key that sealed the run, as the last of those who signed. */
function sealRow({ provenance, finishedAt = '' }: RunView, verified: RunAudit['verified']): string {
  if (provenance?.bundle === undefined) return '';
  const { signer } = verified?.report.grounds ?? {};
  const by =
    signer === undefined
      ? `key ${provenance.keyId ?? 'not known here: see the bundle'}`
      : 'key_id' in signer
        ? `key ${signer.key_id}`
        : `${signer.identity}, by ${signer.issuer}`;
  const state = signer === undefined ? 'not verified here' : 'signature verified';
  return `<tr><td>writ, the seal<br><code class="soft"><bdi>${escapeHtml(by, 1000)}</bdi></code></td><td><span class="pill ${signer === undefined ? '' : 'good'}">sealed</span><br><span class="soft">${state}</span></td><td>${escapeHtml(toMinute(finishedAt), 64)}</td></tr>`;
}

/** Objectives and scope, as the spec that was evaluated states them. */
function intentOf({ spec, targetRef }: RunView, { asked, document }: RunAudit): string {
  const words = (...path: readonly string[]): readonly string[] =>
    [at(document, ...path) ?? []].flat().filter((one) => typeof one === 'string');
  const by = at(document, 'metadata', 'createdBy', 'id');
  return pairs([
    [
      'Kind',
      `${spec.changeType === 'unknown' ? 'change' : spec.changeType} for ${shortRef(targetRef)}, ${spec.riskLevel} risk`,
    ],
    ['Request', asked?.said],
    ['Problem', words('intent', 'problemStatement')],
    ['Objectives', spec.objectives],
    ['May change', words('intent', 'inScope')],
    ['Must not change', words('intent', 'outOfScope')],
    ['Done when', words('acceptance', 'successCriteria')],
    ['Written by', typeof by === 'string' ? by : undefined],
    ['Drafted by', asked && `${asked.provider} ${asked.model}`],
  ]);
}

/** Files and lines; a long diff is cut, and a command shows the rest. */
function changeOf({ patch, baseCommit, decision, contentRef }: RunView, { diff }: RunAudit): string {
  if (patch === undefined) return '<p class="card soft">No change was recorded.</p>';
  const commit = decision?.type === 'commit' ? decision.commitSha : undefined;
  const line =
    commit !== undefined && baseCommit !== undefined
      ? `git diff ${baseCommit} ${commit}`
      : contentRef === undefined
        ? undefined
        : `git show ${contentRef}:patchset.diff`;
  const command = line === undefined ? '' : `<pre><code><bdi>${escapeHtml(line, 512)}</bdi></code></pre>`;
  const rest =
    diff === undefined
      ? `<p class="small soft">The lines are not part of this page.${command === '' ? '' : ' This shows them, while they are kept:'}</p>${command}`
      : diff.leftOut === 0
        ? ''
        : `<p class="small soft">${diff.leftOut} more lines are left out. This shows all:</p>${command}`;
  return `<div class="card">${patchTable(patch)}${diff === undefined ? '' : diffOf(diff.lines)}${rest}</div>`;
}

/** Lines of a diff that are open at once; a longer one is folded by file. */
const openLines = 400;
const lineTones: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'soft' };

function diffOf(lines: readonly string[]): string {
  const files: string[][] = [];
  for (const line of lines) {
    if (files.length === 0 || line.startsWith('diff --git ')) files.push([]);
    files.at(-1)?.push(line);
  }
  const isOpen = lines.length <= openLines ? ' open' : '';
  return files
    .map((own) => {
      const shown = own.map((line) => {
        const isHead = /^(?:---|\+\+\+) /.test(line);
        return `<span class="${isHead ? 'soft' : (lineTones[line[0] ?? ''] ?? '')}">${escapeHtml(line, 500)}</span>`;
      });
      const name = (own[0] ?? '').replace(/^diff --git /, '');
      return `<details${isOpen}><summary><bdi>${escapeHtml(name, 300)}</bdi></summary><pre class="diff">${shown.join('\n')}</pre></details>`;
    })
    .join('');
}

/** Every finding once, whichever stages report it. */
function findingsOf(view: RunView): string {
  const found = new Map<string, { readonly finding: Finding; readonly checkId?: string }>();
  const all = [
    ...view.findings.map((finding): { finding: Finding; checkId?: string } => ({ finding })),
    ...view.stages.flatMap(stageFindings),
  ];
  for (const one of all) {
    const { rule, severity, path, line, column, message } = one.finding;
    const key = JSON.stringify([rule, severity, path, line, column, message]);
    found.set(key, { ...one, ...found.get(key) });
  }
  const list = findingList([...found.values()]);
  return list === '' ? '<p class="card soft">No rule found anything.</p>' : `<div class="card">${list}</div>`;
}

/** Which policy applied, who sealed, where it is logged, and what verifying it came to. */
function sealOf(view: RunView, { verified, document }: RunAudit): string {
  const { provenance, policyCommit, policyRef } = view;
  const { log } = verified?.report.grounds ?? {};
  const isSealed = provenance?.bundle !== undefined;
  const index = log?.index ?? provenance?.logIndex;
  const noLog =
    at(document, 'provenance', 'transparencyLog', 'mode') === 'none'
      ? 'none: the spec asks for no log entry'
      : 'none: the record of the run holds no log proof';
  const origin =
    log?.origin ?? provenance?.logOrigin ?? (provenance?.proof === undefined ? noLog : 'see the log proof');
  const state =
    verified === undefined
      ? isSealed
        ? 'not verified when this page was made'
        : undefined
      : verified.report.verified
        ? `yes: ${verified.report.ran} of ${verified.report.expected} checks, with the keys that this user trusts`
        : `no: ${verificationRefusal([verified])?.message ?? 'not all of it'}`;
  return `${isSealed ? '' : '<p class="card soft">Nothing was sealed by this run, so nothing is signed or logged.</p>'}${pairs(
    [
      ['Policy commit', policyCommit],
      ['Policy of', policyRef],
      ['Log', isSealed ? origin : undefined],
      [
        'Log entry',
        index === undefined
          ? undefined
          : log === undefined
            ? index
            : `${index}, in a checkpoint over ${log.size === 1 ? '1 entry' : `${log.size} entries`}`,
      ],
      ['Verified', state],
      ['Bundle', provenance?.bundle],
      ['Log proof', provenance?.proof],
    ],
  )}`;
}

/** Everyone beside people who had a hand in it. */
function partiesOf({ provenance, toolUses }: RunView, { used }: RunAudit): string {
  const { plugins = [], models = [], bundle } = provenance ?? {};
  const agents = models.flatMap((work) =>
    work.program === undefined ? [] : [{ ...work.program, logs: work.logs ?? [] }],
  );
  const tools = toolUses?.tools ?? [];
  if (plugins.length + models.length + tools.length === 0)
    return `<p class="card soft">${bundle === undefined ? 'Nothing was sealed, so there is no signed list.' : 'No plugin, model or external agent took part.'}</p>`;
  return pairs([
    ['Plugins', plugins.map((plugin) => `${plugin.name} sha256:${plugin.sha256} ${pluginWords(plugin)}`)],
    ['Models', models.map((work) => modelWords(work).join('; '))],
    ['All models', used && `${used.tokens} tokens, ${used.costUsd} USD`],
    [
      'External agents',
      agents.map(
        ({ name, version, sha256, recipe, logs }) =>
          `${name}${version === undefined ? '' : ` ${version}`} sha256:${sha256}, recipe ${recipe}, ${toCount(logs.length, 'session log')}`,
      ),
    ],
    [
      'Tools used',
      tools.map(
        ({ tool, action, done, denied, failed }) =>
          `${tool} ${action}: ${done} done${denied === 0 ? '' : `, ${denied} denied`}${failed === 0 ? '' : `, ${failed} failed`}`,
      ),
    ],
  ]);
}

function recordOf({ decision, patch, spec, ...view }: RunView): string {
  return pairs([
    ['Decision SHA-256', decision?.decisionDigest],
    ['Decision', decision?.rationale],
    ['IntentSpec', spec.id],
    ['IntentSpec SHA-256', spec.digest],
    ['Patchset SHA-256', patch?.digest],
    ['Candidate tree', patch?.candidateTree],
    ['Base commit', view.baseCommit],
    ['Target ref', view.targetRef],
    ['Sandbox', view.sandbox],
    ['Thread', view.threadId],
  ]);
}

function textList(texts: readonly string[], none: string): string {
  if (texts.length === 0) return `<p class="card soft">${none}</p>`;
  return `<ul class="card findings">${texts
    .slice(0, most)
    .map((one) => `<li><bdi>${escapeHtml(one, 1000)}</bdi></li>`)
    .join('')}</ul>`;
}

function nextOf(next: ReturnType<typeof toVerdict>['next']): string {
  return `<div class="card">${commandList(next)}</div>`;
}

function commandList(next: ReturnType<typeof toVerdict>['next']): string {
  return `<ul class="next">${next.map(({ line, about }) => `<li><p class="small soft">${escapeHtml(about)}</p><pre><code><bdi>${escapeHtml(line, 512)}</bdi></code></pre></li>`).join('')}</ul>`;
}

/** A member of untrusted JSON. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(
    (found, key) => (Object.hasOwn(Object(found), key) ? Object(found)[key] : undefined),
    value,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

export function section(id: string, title: string, body: string): string {
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
  const isLimited = artifacts.some(({ expiresAt }) => expiresAt !== undefined);
  const after = isLimited
    ? '<p class="small soft">Content with a date is kept until then, as the retention limits of the spec say. After it, `writ gc` may delete the content. Its digest stays in the record; `writ verify` then reports the file as `expired`, which counts as passed, with a warning.</p>'.replaceAll(
        /`([^`]*)`/g,
        '<code>$1</code>',
      )
    : '';
  const table = `${after}<table aria-label="Artifacts"><thead><tr><th scope="col">Artifact and its SHA-256</th><th scope="col" class="right size">Size</th></tr></thead><tbody>${rows.join('')}${more(artifacts.length, 2)}</tbody></table>`;
  if (artifacts.length <= 40) return `<div class="card">${table}</div>`;
  return `<div class="card"><details><summary>${toCount(artifacts.length, 'artifact')}</summary>${table}</details></div>`;
}

type Value = string | number | readonly string[] | undefined;

/** Names and values, absent ones left out; several values are a list. */
export function pairs(entries: readonly (readonly [string, Value])[]): string {
  const rows = entries.flatMap(([name, value]) => {
    const values = [value ?? []].flat();
    if (values.length === 0) return [];
    const items = values.slice(0, most).map((one) => `<bdi>${escapeHtml(String(one), 2000)}</bdi>`);
    const shown =
      items.length === 1 ? items[0] : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
    const rest = values.length > most ? ` and ${values.length - most} more` : '';
    return [`<dt>${escapeHtml(name)}</dt><dd>${shown}${rest}</dd>`];
  });
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
  return `<section class="card stage" aria-label="Stage ${escapeHtml(stage.stage)}">${head}${attention}${fold}</section>`;
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
