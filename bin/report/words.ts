/* Formats durations, sizes, counts and other facts for people. */
import type { ChangedSince } from '../../api/run/approve-run.ts';
import type { TimeSpent } from '../../api/run/verdict.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { AttestedPlugin } from '../../core/interfaces/sealing.ts';
import type { ArtifactRecord, CheckRecord, StageRecord } from '../../core/interfaces/stage.ts';
import { type Part, styled } from '../terminal/print.ts';

/** Milliseconds for people: `12 ms`, `3.4 s`, `2 min 5 s`, `1 h 4 min`. */
export function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Runs of a check beside the one on the change. */
export const timeWords = { base: 'base run', footprint: 'footprint run', second: 'second run' } as const;

/** Where the time went: `9.4 s: checks 2.5 s, base run 4.1 s, other 2.8 s`. */
export function toTimeSpent(time: TimeSpent): string {
  const { totalMs, checksMs, baseMs, footprintMs, secondMs, otherMs } = time;
  const further = [
    [timeWords.base, baseMs],
    [timeWords.footprint, footprintMs],
    [timeWords.second, secondMs],
  ] as const;
  const parts = [
    ['checks', checksMs] as const,
    ...further.filter(([, ms]) => ms > 0),
    ['other', otherMs] as const,
  ];
  return `${toDuration(totalMs)}: ${parts.map(([name, ms]) => `${name} ${toDuration(ms)}`).join(', ')}`;
}

/** Bytes for people, powers of 1024: `312 B`, `4.2 KiB`. */
export function toSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** `1 check`, `2 checks`. */
export function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What a plugin of others brought and was given, in one line. */
export function pluginWords({ brings, given }: Pick<AttestedPlugin, 'brings' | 'given'>): string {
  return [brings.join(', '), given.join(', ')].filter((words) => words !== '').join('; ');
}

/** The calls of one model: who was called, then in lines what the calls had and sent. */
export function modelWords(work: ModelWork): readonly [who: string, ...more: string[]] {
  const { provider, model, endpoint, agent, profile, program, tools, instructions, exchanges } = work;
  const { logs = [], omitted = 0 } = work;
  const said = [
    profile === undefined
      ? ''
      : `, profile ${profile.name} of the ${profile.tier} (sha256:${profile.sha256})`,
    work.replayed ? ', its answers out of a recording' : '',
    work.claimed ? ', as the record of another machine reports it' : '',
  ];
  const files = instructions.map(
    ({ path, sha256, cut }) => `${path}${cut ? ' (its start)' : ''} sha256:${sha256}`,
  );
  return [
    `${provider} ${model} at ${endpoint}, as ${agent}${said.join('')}`,
    `${toCount(exchanges.length + omitted, 'call')}${omitted === 0 ? '' : `, the first ${omitted} not listed`}; questions and answers by digest`,
    ...(program === undefined
      ? []
      : [
          `program: ${program.name}${program.version === undefined ? '' : ` ${program.version}`} sha256:${program.sha256}, recipe ${program.recipe}`,
          `session logs: ${logs.map((sha256) => `sha256:${sha256}`).join(', ') || 'none'}`,
        ]),
    `tools: ${tools.join(', ') || 'none'}`,
    `instruction files: ${files.join(', ') || 'none'}`,
    `data classes sent: ${work.data_classes.join(', ')}`,
  ];
}

/**
 * Describes how much of a stage ran: its checks, then plugins that were called. If the spec lists no check, also the
 * artifacts that the engine or a plugin made.
 */
export function toStageWords(
  { stage, expected, ran, asked = [] }: Pick<StageRecord, 'stage' | 'expected' | 'ran' | 'asked'>,
  artifacts: readonly Pick<ArtifactRecord, 'stage' | 'checkId' | 'name'>[],
): string {
  const made = artifacts.filter((one) => one.stage === stage && one.checkId === undefined);
  return [
    expected === 0 ? 'no check listed' : `${ran} of ${toCount(expected, 'check')}`,
    ...asked.map(({ name, plugin, status }) => `${name} of plugin ${plugin} ${status}`),
    ...(expected === 0 && made.length > 0 ? [`made ${made.map(({ name }) => name).join(', ')}`] : []),
  ].join(', ');
}

/** Maximum sentence ends examined in a text, because texts are untrusted. */
const most = 8;

/**
 * Leaves out what another finding says: equal findings are one, and of `check \`unit\` failed: WHY` only the start
 * remains if WHY is the message of a finding.
 */
export function distinctFindings<F extends Finding>(findings: readonly F[]): readonly F[] {
  const messages = new Set(findings.map(({ message }) => message));
  const seen = new Set<string>();
  return findings.flatMap((finding) => {
    const { rule, severity, message, path, line } = finding;
    const key = JSON.stringify([rule, severity, message, path, line]);
    if (seen.has(key)) return [];
    seen.add(key);
    const ends = [...message.matchAll(/: /g)].map(({ index }) => index).slice(0, most);
    const end = ends.find((at) => messages.has(message.slice(at + 2)));
    return [
      end === undefined
        ? finding
        : { ...finding, message: message.slice(0, end).replace(/, the first$/, '') },
    ];
  });
}

/**
 * How the second run of a passed check failed, whose output then shows why the check failed; `undefined` if none
 * failed with output.
 */
export function failedSecondRun({
  atPolicy,
  withBaseTests,
}: CheckRecord): { readonly exit: string; readonly over: string } | undefined {
  const run = atPolicy?.outputTail ? atPolicy : withBaseTests?.outputTail ? withBaseTests : undefined;
  if (run === undefined) return undefined;
  const { laid, timedOut, exitCode, signal } = run;
  const exit = timedOut ? 'timed out' : exitCode === undefined ? (signal ?? 'failed') : `exit ${exitCode}`;
  const names = laid.slice(0, mostNamed).map(({ path }) => `\`${path}\``);
  const more = laid.length > mostNamed ? ', …' : '';
  const source = run === atPolicy ? 'the policy commit has it' : 'the base has it';
  return { exit, over: `with ${names.join(', ')}${more} as ${source}` };
}

/** From the first start to the last end, milliseconds; `lengthMs` is at least 1. */
export interface TimeSpan {
  readonly startMs: number;
  readonly lengthMs: number;
}

/** When these checks ran on the wall clock; parallel ones overlap. Unreadable times are left out. */
export function toTimeSpan(checks: readonly Pick<CheckRecord, 'startedAt' | 'durationMs'>[]): TimeSpan {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const check of checks) {
    const at = Date.parse(check.startedAt);
    if (!Number.isFinite(at)) continue;
    start = Math.min(start, at);
    end = Math.max(end, at + check.durationMs);
  }
  return { startMs: start, lengthMs: Math.max(1, end - start) };
}

const mostNamed = 3;

/**
 * Formats in one line the files that a check wrote outside the write scope; `undefined` if there are none. Names are
 * untrusted.
 */
export function toWrittenOutside({ wroteOutside }: CheckRecord): string | undefined {
  if (wroteOutside === undefined) return undefined;
  const { count, atLeast, paths } = wroteOutside;
  const named = paths
    .slice(0, mostNamed)
    .map(({ path, was }) => (was === 'changed' ? `${path} (changed)` : path));
  const more = count > named.length ? ', …' : '';
  return `wrote ${atLeast ? 'at least ' : ''}${toCount(count, 'file')} outside the scope: ${named.join(', ')}${more}`;
}

/** Every check that did, in order. */
export function wroteOutside(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap((check) => {
      const words = toWrittenOutside(check);
      return words === undefined ? [] : [[check.id, words] as const];
    }),
  );
}

/** Where each check ran if the configuration sends checks to workers, in order. */
export function checksOnWorkers(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks, asked = [] }) =>
    [...checks, ...asked.map(({ name: id, ranOn }) => ({ id, ranOn }))].flatMap(({ id, ranOn }) => {
      if (ranOn === undefined) return [];
      const words =
        'here' in ranOn
          ? `ran on this machine: ${ranOn.here}`
          : ranOn.reused === undefined
            ? `ran on worker ${ranOn.worker} (key ${ranOn.keyId.slice(0, 16)})`
            : `reused: the result of run ${ranOn.reused.run}, signed by ${ranOn.worker} (key ${ranOn.keyId.slice(0, 16)})`;
      return [[id, words] as const];
    }),
  );
}

/** The commit object that a run made. */
interface SealedCommit {
  readonly sha: string;
  readonly noun: string;
  /** How it and the target ref relate; the name of the ref follows. */
  readonly relation: string;
}

/** `undefined` where the run made no commit object. */
export function toSealedCommit({ decision, state }: RunView): SealedCommit | undefined {
  if (decision?.commitSha === undefined) return undefined;
  const sha = decision.commitSha;
  if (decision.type !== 'commit') return { sha, noun: 'commit object', relation: 'was made, but not put on' };
  return { sha, noun: 'commit', relation: state === 'decided' ? 'on' : 'was made to be put on' };
}

/** A branch by its own name, any other ref in full. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** `2026-11-30 21:21 UTC`, of an RFC 3339 time in UTC; any other text as it is. */
export function toMinute(at: string): string {
  return at.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/, '$1 $2 UTC');
}

const words: Readonly<Record<ChangedSince['patch'], string>> = {
  same: 'the same octet by octet',
  placed: 'the same but for line numbers and the files around it',
  changed: 'changed:',
  large: 'changed, and too large to be compared here',
  unknown: 'not known: the earlier candidate is not in this clone',
};

/** Prints what changed since people signed an earlier candidate. They need to review only this. */
export function printChanged(
  write: (...parts: readonly Part[]) => void,
  changes: readonly ChangedSince[],
  candidateTree: string,
): void {
  for (const { people, base_commit, candidate_tree, patch, diff, left_out, verdict } of changes) {
    write(styled('bold', 'changed'), `  since ${people.join(', ')} signed for tree ${candidate_tree}`);
    write(`  base       was ${base_commit}`);
    write(`  patch      ${words[patch]}`);
    for (const line of diff) write(`    ${line}`);
    if (left_out > 0) write(`    … ${toCount(left_out, 'more line')}`);
    write(`  verdict    ${verdict.length === 0 ? 'the same' : verdict.join('; ')}`);
    write(`  see it     git diff ${candidate_tree} ${candidateTree}`);
  }
}
