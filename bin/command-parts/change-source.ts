import { readInput } from '../../api/read-input.ts';
import { workerOf } from '../../coder/plugin.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ChangeSource, RunRequest } from '../../engine/run/state/run-request.ts';
import { recordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import type { CommandContext } from './command.ts';
import { readModelChoice, refuseChoice } from './model-choice.ts';
import type { Reaching } from './reach-provider.ts';

/** Bytes of a patch that is read at all. */
const maxPatchBytes = 256 * 1024 * 1024;

/** Where the change comes from, as it was typed; absent where nothing says so. USAGE. */
interface GivenSource {
  readonly kind: 'patch' | 'range' | 'recording' | 'provider';
  readonly value: string;
}

/** The one source that was typed; absent where none was. USAGE for two. */
export function sourceGiven({ options }: CommandContext, spec: string): GivenSource | undefined {
  const given = (['patch', 'range', 'recording', 'provider'] as const).filter(
    (name) => options.value(name) !== undefined,
  );
  const [kind] = given;
  if (given.length > 1) {
    const named = given.map((name) => `\`--${name}\``).join(' and ');
    throw new WritError('USAGE', { message: `expected one source of the change, found ${named}` });
  }
  if (kind === undefined) return undefined;
  const value = options.value(kind) ?? '';
  if (value === '-' && spec === '-' && (kind === 'patch' || kind === 'recording'))
    throw new WritError('USAGE', { message: `the spec and the ${kind} cannot both come from stdin` });
  return { kind, value };
}

/** The change itself, where one was typed: INPUT_UNREADABLE, INPUT_TOO_LARGE, what a choice of a model refuses. */
export async function readSource(
  context: CommandContext,
  given: GivenSource | undefined,
  { variable }: Pick<Reaching, 'variable'>,
): Promise<ChangeSource | undefined> {
  if (given?.kind !== 'provider') refuseChoice(context, ['record']);
  if (given === undefined) return undefined;
  const { kind, value } = given;
  if (kind === 'range') return { kind, range: value };
  if (kind === 'provider')
    return { kind: 'worker', worker: workerOf(value), from: readModelChoice(context, value, variable) };
  const bytes = await readInput(context, value, { maxBytes: maxPatchBytes });
  return kind === 'recording'
    ? { kind: 'worker', worker: recordedWorker, from: bytes }
    : { kind: 'patch', bytes };
}

/** What `run` and `plan` are told alike of a change and where it is to land. */
export function runWishes(
  options: CommandContext['options'],
): Pick<RunRequest, 'onto' | 'message' | 'author' | 'policy' | 'noMerge' | 'sandbox'> {
  const given = (['onto', 'message', 'author', 'policy'] as const).flatMap((name) => {
    const value = options.value(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(given),
    noMerge: options.flag('no-merge'),
    sandbox: options.value('sandbox') ?? 'auto',
  };
}

/** `--local-changes`, as a setting of a run. */
export function localChangesGiven(options: CommandContext['options']): Pick<RunRequest, 'localChanges'> {
  const given = options.value('local-changes');
  // The command table admits no other value.
  return given === 'stop' || given === 'set-aside' || given === 'include' ? { localChanges: given } : {};
}
