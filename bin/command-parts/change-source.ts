/* Where the change of a run comes from: a patch, a claim or a model. */
import { resolve } from 'node:path';
import { formatExternalChoice } from '../../agent/external/recipes.ts';
import { externalWorker, workerOf } from '../../agent/plugin.ts';
import { readInput } from '../../api/read-input.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { ChangeSource, RunRequest, RunSettings } from '../../engine/state/run-request.ts';
import { recordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import { maxPatchBytes } from '../../workspace/patch/normalise.ts';
import { openLines } from '../terminal/open-output.ts';
import type { CommandContext } from './command.ts';
import { readModelChoice, refuseChoice } from './providers.ts';
import type { Reaching } from './reach-provider.ts';

const sources = ['patch', 'range', 'recording', 'provider', 'external-agent'] as const;

/** Source of the change as given on the command line. */
interface GivenSource {
  readonly kind: (typeof sources)[number];
  readonly value: string;
}

/** The one source that was typed; absent where none was. USAGE for two. */
export function sourceGiven({ options }: CommandContext, spec: string): GivenSource | undefined {
  const given = sources.filter((name) => options.value(name) !== undefined);
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
  const [, ...argv] = context.args;
  if (given?.kind === 'external-agent')
    return { kind: 'worker', worker: externalWorker, from: externalChoice(context, given.value, argv) };
  if (argv[0] !== undefined)
    throw new WritError('USAGE', {
      message: `unexpected argument \`${printable(argv[0])}\``,
      detail: { expected: ['SPEC'], found: argv[0] },
      hints: [
        `leave \`${printable(argv[0])}\` out; a program that makes the change goes after \`--external-agent --\``,
      ],
    });
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

/** What starts an external agent. A program that is named by its path is found from the working directory. USAGE. */
function externalChoice(context: CommandContext, recipe: string, argv: readonly string[]): Uint8Array {
  const [program = '', ...args] = argv;
  if (program === '')
    throw new WritError('USAGE', {
      message: 'expected the program and its arguments behind `--`',
      hints: ['`writ run SPEC --external-agent -- codex exec "…"`'],
    });
  refuseChoice(context, ['record'], ['model', 'api-base']);
  const [model, apiBase] = [context.options.value('model'), context.options.value('api-base')];
  return formatExternalChoice({
    argv: [program.includes('/') ? resolve(context.cwd, program) : program, ...args],
    recipe,
    ...(model === undefined ? {} : { model }),
    ...(apiBase === undefined ? {} : { apiBase }),
  });
}

/** Options that `run` and `plan` share. */
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

const maxAsked = 5;
const maxShown = 20;
const choices: readonly LocalChanges[] = ['include', 'set-aside', 'stop'];

/** Prompts on the terminal for conflicting local changes. Returns no prompt function without a terminal. */
export function promptsLocalChanges({
  interactive,
  print,
  stdin,
  signal,
}: Pick<CommandContext, 'interactive' | 'print' | 'stdin' | 'signal'>): Pick<RunSettings, 'askLocalChanges'> {
  if (!interactive) return {};
  return {
    async askLocalChanges(dirty) {
      print.complain('the change touches files with uncommitted changes:');
      for (const { path, reason } of dirty.slice(0, maxShown))
        print.complain(`  ${printable(path)} (${reason})`);
      if (dirty.length > maxShown) print.complain(`  and ${dirty.length - maxShown} more`);
      using lines = openLines(stdin, signal);
      for (let asked = 0; asked < maxAsked; asked += 1) {
        print.complain(
          'type 1 to include them in the change, 2 to set them aside until it is sealed, 3 to stop (or include, set-aside, stop)',
        );
        const said = (await lines.next())?.trim().toLowerCase();
        if (said === undefined) break;
        const choice = choiceOf(said);
        if (choice !== undefined) return choice;
      }
      return 'stop';
    },
  };
}

/** A choice by its number, its name or the first letters of it, if no other begins with them. */
function choiceOf(said: string): LocalChanges | undefined {
  if (/^[1-9]$/.test(said)) return choices[Number(said) - 1];
  const named = choices.filter((one) => one.startsWith(said.replace(' ', '-')));
  return said !== '' && named.length === 1 ? named[0] : undefined;
}
