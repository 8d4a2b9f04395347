/* Finds installed programs, and the environment of check commands. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { AgentSource } from '../../core/interfaces/worker.ts';

const systemDirectories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/**
 * Returns the absolute path of an installed program; `undefined` if it is not installed. System directories come
 * first, so that no earlier PATH entry can shadow the program. Relative PATH entries are skipped.
 */
export function findProgram(name: string, searchPath: string): string | undefined {
  for (const directory of [...systemDirectories, ...searchPath.split(':')]) {
    if (!path.isAbsolute(directory)) continue;
    const file = path.join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** A program and what of this machine a sandbox has to show for it. */
export interface FoundAgent {
  /** Inside. */
  readonly program: string;
  readonly bind: SandboxBind;
}

const inside = '/agent';
type AgentPlace = Pick<AgentSource<never>, 'program'> &
  Partial<Pick<AgentSource<never>, 'marker' | 'natives'>>;

/**
 * Returns the program of an agent, with symlinks resolved. An npm launcher script is replaced by the program that it
 * starts, because the files around a launcher are not visible in the sandbox. Throws AGENT_UNAVAILABLE.
 */
export function findAgent(
  source: AgentPlace,
  flags: Readonly<Record<string, string>>,
  searchPath = process.env.PATH ?? '',
): FoundAgent {
  const { marker, natives = {}, program: place } = source;
  const wanted = flags[place.flag] ?? place.name;
  const found = path.isAbsolute(wanted) ? wanted : findProgram(wanted, searchPath);
  if (found === undefined || (wanted.includes('/') && !path.isAbsolute(wanted)))
    throw unavailable(place, wanted, 'is not installed');
  let file: string;
  try {
    accessSync(found, constants.X_OK);
    file = realpathSync(found);
  } catch {
    throw unavailable(place, wanted, 'is no program');
  }
  if (!statSync(file).isFile()) throw unavailable(place, wanted, 'is no program');
  const native = /\.(?:[cm]?js|exe)$/.test(file) ? nativeOf(file, natives) : undefined;
  file = native ?? file;
  const root = path.dirname(path.dirname(file));
  if (marker !== undefined && existsSync(path.join(root, marker)))
    return {
      program: path.posix.join(inside, path.relative(root, file)),
      bind: { source: root, target: inside, writable: false },
    };
  const program = path.posix.join(inside, path.basename(file));
  return { program, bind: { source: file, target: program, writable: false } };
}

/** As Node would find it from the starter. */
function nativeOf(starter: string, natives: NonNullable<AgentPlace['natives']>): string | undefined {
  const native = natives[`${process.platform}-${process.arch}`];
  if (native === undefined) return undefined;
  for (let at = path.dirname(starter); at !== path.dirname(at); at = path.dirname(at)) {
    const file = path.join(at, 'node_modules', native);
    if (existsSync(file)) return realpathSync(file);
  }
  return undefined;
}

function unavailable({ flag, hint }: AgentPlace['program'], wanted: string, why: string): WritError {
  return new WritError('AGENT_UNAVAILABLE', {
    message: `the program ${quoted(wanted)} cannot be started: it ${why}`,
    detail: { program: wanted.slice(0, 4096) },
    hints: [hint, `name it: \`--${flag} PATH\``],
  });
}

const blockBytes = 512;

/**
 * Words that run shell text in which no file that is written grows beyond so many bytes, rounded down to 512 (`ulimit
 * -f` of POSIX); what writes on gets an error or is ended. Without a bound it is the shell alone.
 */
export function limitedShell(command: string, maxWriteBytes?: number): readonly string[] {
  if (maxWriteBytes === undefined) return ['sh', '-c', command];
  const blocks = String(Math.floor(maxWriteBytes / blockBytes));
  return ['sh', '-c', 'ulimit -f "$1" && exec sh -c "$2"', 'sh', blocks, command];
}

/**
 * Returns true if `file` is `directory` or is below it. Both are absolute and normalised. The caller resolves
 * symlinks.
 */
export function isInside(directory: string, file: string): boolean {
  return (
    file === directory || file.startsWith(directory.endsWith(path.sep) ? directory : directory + path.sep)
  );
}

/** Names that every sandbox sets by itself; a command may read them, and `PWD`, beside the Scheduler's map. */
export const sandboxVariables = ['PATH', 'HOME', 'TMPDIR', 'PWD'] as const;

/** Returns whether a name is reserved, so that no secret may replace it. */
export function isOwnVariable(name: string): boolean {
  return [...sandboxVariables, ...schedulerVariables].some((one) => one === name);
}

interface CheckFacts {
  readonly intentSpecId: string;
  readonly intentSpecDigest: string;
  readonly runId: string;
  /** As the command sees it, inside the sandbox. */
  readonly workspace: string;
  /** Empty on an unborn HEAD. */
  readonly baseSha: string;
  readonly patchSetDigest: string;
  /** As the command sees it, inside the sandbox. */
  readonly reportsDir: string;
}

/**
 * Builds the Scheduler's map. `$NAME` in a check command resolves only from this map and `sandboxVariables`. No
 * variable of writ's own environment is passed on. A C locale keeps reports comparable between machines.
 */
export function checkEnvironment(facts: CheckFacts): Record<string, string> {
  return {
    INTENTSPEC_ID: facts.intentSpecId,
    INTENTSPEC_DIGEST: facts.intentSpecDigest,
    RUN_ID: facts.runId,
    WORKSPACE: facts.workspace,
    BASE_SHA: facts.baseSha,
    PATCHSET_DIGEST: facts.patchSetDigest,
    REPORTS_DIR: facts.reportsDir,
    LANG: 'C.UTF-8',
    CI: 'true',
  };
}

/** Names of the Scheduler's map. */
export const schedulerVariables: readonly string[] = Object.keys(
  checkEnvironment({
    intentSpecId: '',
    intentSpecDigest: '',
    runId: '',
    workspace: '',
    baseSha: '',
    patchSetDigest: '',
    reportsDir: '',
  }),
);

/**
 * What every sandbox of a run may hold (`[checks] max_memory_mb`): checks, commands of `prepare`, third-party rules.
 */
export function maxMemoryBytes({ checks }: { readonly checks: { readonly maxMemoryMb: number } }): number {
  return checks.maxMemoryMb * 1_048_576;
}
