/*
 * The entrance of a run's record: redacts what checks, rules, plugins and workers say, before anything is written.
 * `redactArtifact` does the same for bytes.
 */
import { isIP } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { WritError } from '../../core/base/errors.ts';
import { withoutTerminalStrings } from '../../core/base/printable.ts';
import type { LaidPath } from '../../core/interfaces/patch-set.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { LaidRun, OutputTail, WrittenOutside } from '../../core/interfaces/stage.ts';
import { maskPath, redactTexts } from '../../readers/sensitive/redact.ts';
import { type OpenRun, policyOf } from './open-run.ts';

type OfRun = Pick<OpenRun, 'identity' | 'environment' | 'services'>;
type Policy = Pick<PrivacyPolicy, 'remove' | 'words'>;

/** How a step records an outcome. */
interface Recording<Found, Answer> {
  /** An answer that is not final is not recorded: the next process finds it again. */
  readonly isFinal?: (answer: Answer) => boolean;
  /** A stricter policy than the run's. */
  readonly policyFor?: (found: Found, policy: PrivacyPolicy) => PrivacyPolicy;
}

type Find<Found> = () => Promise<Found> | Found;

/** Runs a step that finds an outcome, and records and returns the outcome redacted. */
export function recordOutcome<Found>(
  run: OfRun,
  step: string,
  find: Find<Found>,
  recording: Recording<Found, Found> = {},
): Promise<Found> {
  return recordAnswer(run, step, find, (clean) => clean, recording);
}

/**
 * The entrance of the record: runs a step that finds an outcome, and records the answer that `toAnswer` builds from
 * the redacted outcome. No other form of the outcome leaves. The text of a thrown WritError is redacted too.
 */
export function recordAnswer<Found, Answer>(
  run: OfRun,
  step: string,
  find: Find<Found>,
  toAnswer: (clean: Found) => Promise<Answer> | Answer,
  { isFinal, policyFor = (_found, policy) => policy }: Recording<Found, Answer> = {},
): Promise<Answer> {
  const act = async (): Promise<Answer> => {
    let found: Found;
    try {
      found = await find();
    } catch (fault) {
      // A caller that stopped the run gets its own reason.
      throw fault === run.services.signal.reason ? fault : redactFault(fault, policyOf(run));
    }
    return toAnswer(redactOutcome(found, policyFor(found, policyOf(run))));
  };
  return run.services.steps.once(step, act, isFinal);
}

const asItIs = (value: unknown): unknown => value;

/**
 * Members of an outcome that are not only texts of a program. Those that stay come from the spec, from the
 * configuration, from git or from the artifact collector; paths of the patch are compared with the patch later; and
 * the agent has redacted what it also shows to a model.
 */
const members: Readonly<Record<string, (value: never, policy: Policy) => unknown>> = {
  ...Object.fromEntries(
    [
      ...['id', 'kind', 'stage', 'command', 'startedAt', 'tree', 'digest', 'carried', 'artifacts', 'ranOn'],
      ...['records', 'madeFrom', 'filled', 'unprepared', 'reads', 'prepared'],
      ...['tools', 'model', 'code', 'citations', 'usage', 'metrics'],
    ].map((name) => [name, asItIs]),
  ),
  network: redactHosts,
  ownNetwork: redactHosts,
  networks: (networks: readonly CheckNetwork[], policy) => networks.map((one) => redactHosts(one, policy)),
  wroteOutside: (written: WrittenOutside, policy) => ({
    ...written,
    paths: redactPaths(written.paths, policy),
  }),
  outputTail: redactTail,
  atPolicy: redactLaidRun,
  withBaseTests: redactLaidRun,
  onBaseProduct: redactLaidRun,
};

/** Redacts an outcome that a file of the record holds, or that is compared with a recorded one. */
export function redactOutcome<T>(outcome: T, policy: Policy): T {
  if (typeof outcome !== 'object' || outcome === null || Array.isArray(outcome))
    return redactTexts(outcome, policy);
  return Object.fromEntries(
    Object.entries(outcome).map(([name, value]) => {
      const redact = Object.hasOwn(members, name) ? members[name] : undefined;
      const isAbsent = value === undefined || redact === undefined;
      return [name, isAbsent ? redactTexts(value, policy) : redact(value as never, policy)];
    }),
  ) as T;
}

function redactLaidRun({ laid, ...ran }: LaidRun, policy: Policy): LaidRun {
  return {
    ...redactOutcome(ran, policy),
    laid: laid.map((one): LaidPath => ({ ...one, path: maskPath(one.path) })),
  };
}

/**
 * A file's name is recorded even if its content is not, so redaction removes tokens and every class that the policy
 * removes from names.
 */
function redactPaths(paths: WrittenOutside['paths'], policy: Policy): WrittenOutside['paths'] {
  return paths.map(({ path, was }) => ({ path: maskPath(redactTexts(path, policy)), was }));
}

/** A host name can hold a secret, because the command chooses it. An address is a fact about a machine. */
function redactHosts<T extends Pick<CheckNetwork, 'uses'>>(network: T, policy: Policy): T {
  const uses = network.uses.map((use) => ({
    ...use,
    host: isIP(use.host) === 0 ? redactTexts(use.host, policy) : use.host,
  }));
  return { ...network, uses };
}

/** The same fault if it holds nothing to redact, because callers compare faults. */
function redactFault(fault: unknown, policy: Policy): unknown {
  if (!(fault instanceof WritError)) return fault;
  const { code, message, detail, hints } = fault;
  const said = { message, detail, hints };
  const clean = redactTexts(said, policy);
  return JSON.stringify(clean) === JSON.stringify(said) ? fault : new WritError(code, clean);
}

/** What is kept of the output of a failed check, and for how many failed checks of a stage. */
export const tailLimits = { lines: 200, bytes: 16 * 1024, checks: 64 } as const;

/** Characters of a long line that are kept, at its start and end. */
const keptOfLine = { start: 1000, end: 500 } as const;

/** Octets before the tail that are searched for secrets as well: a secret that begins there is found whole. */
const searchedBytes = 256 * 1024;

/**
 * Returns the end of what a command printed (stdout and stderr in arrival order) for `outputTail` of an outcome, or
 * `undefined` if it printed nothing. Terminal control sequences and invalid UTF-8 are removed. The entrance redacts the
 * text and then shortens it to `tailLimits`: a secret that was cut would not be found.
 */
export function printedTail(result: Pick<SandboxResult, 'combined'> | undefined): OutputTail | undefined {
  if (result === undefined) return undefined;
  const { bytes, truncated } = result.combined;
  const searched = bytes.subarray(-searchedBytes);
  // What a terminal does not show is removed before the search: a colour within a secret would hide it.
  const decoded = withoutTerminalStrings(searched.toString('utf8').replaceAll('\ufffd', ''));
  const text = stripVTControlCharacters(decoded)
    .split(/\r*\n/)
    .map(afterReturn)
    .join('\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '')
    .trimEnd();
  if (text === '') return undefined;
  return { text, ...(truncated || searched.length < bytes.length ? { truncated: true as const } : {}) };
}

/** Removes secrets whatever the policy allows. */
function redactTail({ text, truncated }: OutputTail, policy: Policy): OutputTail {
  const remove = [...new Set([...policy.remove, 'secrets' as const])];
  const whole = redactTexts(text, { ...policy, remove });
  const last = lastOf(whole);
  return { text: last, ...(truncated || last !== whole ? { truncated: true as const } : {}) };
}

/** A line as a terminal leaves it: a carriage return begins the line again, as progress bars do. */
function afterReturn(line: string): string {
  const shown = line.replace(/\r+$/, '');
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

function lastOf(text: string): string {
  const lines = text.split('\n').slice(-tailLimits.lines).map(cutLine);
  let size = 0;
  const from = lines.findLastIndex((line) => {
    size += Buffer.byteLength(line) + 1;
    return size > tailLimits.bytes + 1;
  });
  return lines.slice(from + 1).join('\n');
}

/** Shortens a long line: minified source or a dump on one line would push out the lines around it. */
function cutLine(line: string): string {
  const { start, end } = keptOfLine;
  const left = line.length - start - end;
  if (left <= 0) return line;
  return `${line.slice(0, start)} … [${left} characters] … ${line.slice(-end)}`.toWellFormed();
}
