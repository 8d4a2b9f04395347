/* Runs one command line: parse, load the command, print its result, return its exit code. */
import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { userSecrets } from '../api/vault/user-secrets.ts';
import { systemClock } from '../core/base/clock.ts';
import { isWritError, type WritError } from '../core/base/errors.ts';
import type { WorkerPool } from '../core/kernel/worker/pool.ts';
import { createStores } from '../plugins/store/built-in-stores.ts';
import { parseArguments } from './args.ts';
import type { CommandContext, CommandOptions, CommandResult, CommandSpec } from './command-parts/command.ts';
import { createPrinter, type Sink, wantsColour } from './terminal/print.ts';
import { createProgress } from './terminal/progress.ts';

/** What a command line runs in; the real process or a test. */
export interface Host {
  readonly out: Sink;
  readonly err: Sink;
  readonly outTerminal: { readonly isTTY?: boolean | undefined };
  readonly errTerminal: { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stdin: Readable;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** See `CommandContext`. */
  readonly leaveInterrupts?: () => () => void;
  /** Worker threads that outlive the command line; the creator closes them. */
  readonly pool?: WorkerPool;
}

/** Runs one command line and resolves to its exit code; never throws, prints everything there is to print. */
export async function dispatch(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  host: Host,
): Promise<number> {
  const globals = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const events = globals.includes('--events');
  const json = globals.includes('--json') || (events && globals[0] !== 'schema');
  const quiet = globals.includes('--quiet') || globals.includes('-q');
  const plain = globals.includes('--no-color');
  const progress = createProgress(
    host.err,
    { enabled: host.errTerminal.isTTY === true && !quiet && !json, columns: host.errTerminal.columns ?? 80 },
    systemClock,
  );
  const printer = createPrinter(host.out, host.err, {
    quiet,
    isOnRunner: host.env.GITHUB_ACTIONS === 'true',
    colourOut: wantsColour(host.env, host.outTerminal, plain),
    colourErr: wantsColour(host.env, host.errTerminal, plain),
    before: progress.clear,
  });

  const end = async (command: string, result: CommandResult, streamed = false): Promise<number> => {
    progress.clear();
    const code = await answer(command, result, streamed);
    for (const line of at === undefined ? [] : await setAsideLines(at)) printer.complain('writ: ', line);
    return code;
  };
  const answer = async (command: string, result: CommandResult, streamed: boolean): Promise<number> => {
    const error = 'error' in result ? result.error : undefined;
    if (json && streamed && error === undefined) return result.exitCode;
    if (json) {
      const { toEnvelope } = await import('../api/envelope.ts');
      host.out.write(toEnvelope(command, { data: result.data, error }, streamed || events));
    } else {
      result.human(printer);
      if (error === undefined) return result.exitCode;
      const { complain } = await import('./exit.ts');
      complain(printer, error, host.env);
    }
    return result.exitCode;
  };

  let name = '';
  let streams = false;
  let at: string | undefined;
  try {
    const invocation = parseArguments(argv, commands);
    if (invocation.kind === 'version') {
      const { readVersion } = await import('../api/build.ts');
      const version = readVersion();
      return await end('version', { exitCode: 0, data: { version }, human: (to) => to.line(version) });
    }
    if (invocation.kind === 'help') {
      const { helpText } = await import('./help.ts');
      const text = helpText(commands, invocation);
      return await end('help', { exitCode: 0, data: { text }, human: (to) => to.text(text) });
    }
    const { command, args, options } = invocation;
    name = command.name;
    streams = typeof command.streams === 'string' ? options.flag(command.streams) : command.streams === true;
    const context: CommandContext = {
      args,
      commands,
      options,
      signal: host.signal,
      ...(host.leaveInterrupts === undefined ? {} : { leaveInterrupts: host.leaveInterrupts }),
      print: printer,
      progress,
      cwd: host.cwd,
      stores: createStores(userSecrets(host.env)),
      env: host.env,
      get stdin() {
        return host.stdin;
      },
      get interactive() {
        return host.errTerminal.isTTY === true && 'isTTY' in host.stdin && host.stdin.isTTY === true;
      },
      colour: wantsColour(host.env, host.outTerminal, plain),
      hasScreen: host.outTerminal.isTTY === true,
      ...(host.pool === undefined ? {} : { pool: host.pool }),
      ...repositoryOf(options, host.cwd),
      json,
      quiet,
    };
    const run = await command.load();
    at = context.repoPath ?? host.cwd;
    return await end(name, await run(context), streams);
  } catch (thrown) {
    const { toFault } = await import('../api/envelope.ts');
    const error = interruption(thrown, host.signal) ?? toFault(thrown);
    if (name === '' && typeof error.detail.command === 'string') name = error.detail.command;
    return end(name, { exitCode: error.exitCode, error, human: () => {} }, streams);
  }
}

function repositoryOf(options: CommandOptions, cwd: string): { readonly repoPath?: string } {
  const given = options.value('repo');
  return given === undefined ? {} : { repoPath: resolve(cwd, given) };
}

/** Once interrupted, an abort that surfaces in any wording is the interruption. */
function interruption(thrown: unknown, signal: AbortSignal): WritError | undefined {
  if (!signal.aborted || !isWritError(signal.reason)) return undefined;
  const aborted = thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError');
  return aborted ? signal.reason : undefined;
}

/**
 * What every command reports of local changes that a run stored and did not merge back. Costs a few file reads if there
 * are none. Never fails: a repository that cannot be read is reported by the command itself.
 */
async function setAsideLines(start: string): Promise<readonly string[]> {
  try {
    if (!mayHoldAny(start)) return [];
    const { openRepository } = await import('../workspace/git/repository.ts');
    const { setAsideNotices } = await import('../workspace/git/set-aside.ts');
    return await setAsideNotices(await openRepository(start, { bare: true, onlyReads: true }));
  } catch {
    return [];
  }
}

/** Returns false if git's ref files show that no such ref exists. */
function mayHoldAny(start: string): boolean {
  const gitDir = findGitDir(start);
  if (gitDir === undefined) return false;
  const common = readText(join(gitDir, 'commondir'));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trimEnd());
  if (exists(join(commonDir, 'refs/writ/set-aside')) || exists(join(commonDir, 'reftable'))) return true;
  return readText(join(commonDir, 'packed-refs'))?.includes(' refs/writ/set-aside/') === true;
}

function findGitDir(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    const found = join(at, '.git');
    if (exists(join(found, 'HEAD'))) return found;
    const link = readText(found)?.match(/^gitdir: (.+)\n$/)?.[1];
    if (link !== undefined) return resolve(at, link);
    if (exists(join(at, 'HEAD')) && exists(join(at, 'refs'))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** False also below a file: `.git` is a file in a linked working tree and in a submodule. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'latin1') : undefined;
  } catch {
    return undefined;
  }
}
