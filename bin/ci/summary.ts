/* The summary of a run for a pull request: as data in a file of the reports, and as the text of a comment. */
import { runFindings } from '../../api/run/run-data.ts';
import { toVerdict } from '../../api/run/verdict.ts';
import { count, flag, list, object, oneOf, parse, type TypeOf, text } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import { toCount } from '../report/words.ts';

const maxFindings = 50;
const maxMessage = 1000;
const maxSentence = 4000;

const finding = object(
  'a finding',
  { rule: text(256), severity: oneOf('error', 'warning', 'note'), message: text(maxMessage + 1, 0) },
  { path: text(4096, 0), line: count(0) },
);

const summarySchema = object(
  'a summary',
  {
    run_id: text(64),
    outcome: oneOf('commit', 'abandon', 'wait', 'rollback', 'none'),
    /** Only evaluated: nothing was sealed, and nothing waits. */
    would: flag,
    summary: text(512, 0),
    sentence: text(maxSentence + 1, 0),
    stages: list(
      object('a stage', { stage: text(64), status: text(64), expected: count(0), ran: count(0) }),
      8,
    ),
    findings: list(finding, maxFindings),
    /** Findings beyond those that are listed. A rule with very many lists its first ones: there may be more. */
    hidden: count(0),
  },
  {
    commit: text(64),
    /** The policy only advises, and this many errors would refuse the change. */
    advised: count(0),
  },
);

/** What became of a change, in short. */
export type CiSummary = TypeOf<typeof summarySchema>;

/** Name of the file in the directory of reports. */
export const summaryFile = 'summary.json';
/** Upper bound of that file. */
export const maxSummaryBytes = 1024 * 1024;

/** `commit`, `abandon`, `wait`, `rollback`, or `none`: what became of the change, or would have. */
export function outcomeOf({ would, decision }: RunView): CiSummary['outcome'] {
  const type = would?.type ?? decision?.type ?? 'none';
  if (type === 'checkpoint') return 'wait';
  return type === 'retry' ? 'none' : type;
}

const order: readonly Finding['severity'][] = ['error', 'warning', 'note'];

/** The findings of a run, the worst first. */
export function worstFirst(view: RunView): readonly Finding[] {
  return runFindings(view).toSorted(
    (one, other) => order.indexOf(one.severity) - order.indexOf(other.severity),
  );
}

export function toSummary(view: RunView): CiSummary {
  const findings = worstFirst(view);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return {
    run_id: view.runId,
    outcome: outcomeOf(view),
    would: view.would !== undefined,
    summary: view.spec.summary.slice(0, 512),
    sentence: cut(toVerdict(view).sentence, maxSentence),
    stages: view.stages.map(({ stage, status, expected, ran }) => ({ stage, status, expected, ran })),
    findings: findings.slice(0, maxFindings).map(({ rule, severity, message, path, line }) => ({
      rule: rule.slice(0, 256),
      severity,
      message: cut(message, maxMessage),
      ...(path === undefined ? {} : { path: path.slice(0, 4096) }),
      ...(line === undefined ? {} : { line }),
    })),
    hidden: Math.max(0, findings.length - maxFindings),
    ...(view.decision?.commitSha === undefined ? {} : { commit: view.decision.commitSha }),
    ...(view.would?.isAdvised ? { advised: errors } : {}),
  };
}

/** A summary of a change that could not be evaluated. */
export function faultSummary(code: string, message: string): CiSummary {
  const sentence = cut(`${code}: ${message}`, maxSentence);
  const none = { stages: [], findings: [], hidden: 0 };
  return {
    run_id: '-',
    outcome: 'none',
    would: false,
    summary: 'The change was not evaluated',
    sentence,
    ...none,
  };
}

/** Reads the file of another job, which may hold anything. INPUT_UNREADABLE, and SchemaFault where it is no summary. */
export function parseSummary(bytes: Uint8Array): CiSummary {
  const limits = { code: 'INPUT_UNREADABLE', maxBytes: maxSummaryBytes } as const;
  // A text that was cut may end in half of a pair of surrogates.
  const { value } = parseStrictJson(bytes, { ...limits, allowsIllFormed: 'surrogates' });
  return parse(summarySchema, value);
}

/** The beginning of every comment of ours. */
export const commentMark = '<!-- writ -->';
/** GitHub accepts 65,536 characters. */
const maxComment = 60_000;
const maxPlace = 300;

const words: Readonly<Record<CiSummary['outcome'], readonly [is: string, would: string, advised: string]>> = {
  commit: ['Sealed', 'Would be sealed', 'would seal'],
  abandon: ['Refused', 'Would be refused', 'would refuse'],
  wait: ['Waits for approval', 'Would wait for approval', 'would wait for approval'],
  rollback: ['Rolled back', 'Would be rolled back', 'would roll back'],
  none: ['Not evaluated', 'Not evaluated', 'not evaluated'],
};

/** The outcome in a few words. */
export function outcomeWords({ outcome, would, advised }: CiSummary): string {
  const [is, evaluated, advice] = words[outcome];
  if (advised === undefined) return would ? evaluated : is;
  const count = outcome === 'abandon' && advised > 0 ? `: ${toCount(advised, 'finding')}` : '';
  return `${advice}${count} (advise mode)`;
}

/** The state of the commit for the forge. A policy that only advises holds no change back. */
export function outcomeState({ outcome, advised }: CiSummary): 'success' | 'pending' | 'failure' {
  if (advised !== undefined || outcome === 'commit') return 'success';
  return outcome === 'wait' ? 'pending' : 'failure';
}

/**
 * A summary as Markdown in which every text of the change is inert. `notes` are lines of ours; a command line in it is
 * a code block.
 */
export function renderComment(summary: CiSummary, notes: readonly string[]): string {
  return render(summary, [`### writ: ${outcomeWords(summary)}`], notes, '');
}

/** The same of a job that nothing vouches for: all that it says is a quotation, and it cannot have sealed anything. */
export function renderClaimedComment(summary: CiSummary, notes: readonly string[]): string {
  const head = [
    '### writ: not verified',
    '',
    'The job of the pull request reports what is quoted here. A fork can change its job, so nothing vouches for it.',
    '',
    `> **Claimed: ${outcomeWords({ ...summary, would: true })}**`,
  ];
  return render(summary, head, notes, '> ');
}

function render(
  summary: CiSummary,
  heading: readonly string[],
  notes: readonly string[],
  quote: '' | '> ',
): string {
  const { stages, findings } = summary;
  const table = stages.length === 0 ? [] : ['| Stage | Status | Checks |', '| --- | --- | --- |'];
  const head = [
    `**${inert(summary.summary)}**`,
    '',
    inert(summary.sentence),
    '',
    ...table,
    ...stages.map(
      ({ stage, status, expected, ran }) => `| ${inert(stage)} | ${inert(status)} | ${ran} of ${expected} |`,
    ),
    '',
  ];
  const run = summary.run_id === '-' ? '' : `Run \`${summary.run_id.replace(/[^\w-]/g, '?')}\`.`;
  const tail = notes.flatMap((note) => ['', note]);
  let room = maxComment - 500 - [...heading, ...head, ...tail].join(`\n${quote}`).length;
  const shown: string[] = [];
  for (const line of findings.map(findingLine)) {
    room -= quote.length + line.length + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const hidden = findings.length - shown.length + summary.hidden;
  const more = hidden === 0 ? [] : ['', `and at least ${hidden} more findings, in the files of the job`];
  const body = ['', ...head, ...shown, ...more, '', run].map((line) => `${quote}${line}`);
  return [commentMark, ...heading, ...body, ...tail].join('\n');
}

function findingLine({ rule, severity, message, path, line }: CiSummary['findings'][number]): string {
  const place =
    path === undefined ? '' : ` in ${inert(cut(path, maxPlace))}${line === undefined ? '' : ` line ${line}`}`;
  return `- **${severity}** ${inert(rule)}${place}: ${inert(message)}`;
}

/** GitHub finds mentions and references after it has read the Markdown: a comment splits them. */
function inert(text: string): string {
  return markdownText(text).replaceAll(/&#64;|\\#/g, '$&<!-- -->');
}

function cut(value: string, most: number): string {
  return value.length > most ? `${value.slice(0, most)}…` : value;
}
