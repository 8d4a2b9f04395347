import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/quoted.ts';
import type { AgentSource } from '../../core/contract/agent.ts';
import type { SandboxBind } from '../../core/contract/sandbox.ts';
import { findProgram } from './find-program.ts';

/** A program and what of this machine a sandbox has to show for it. */
export interface FoundAgent {
  /** Inside. */
  readonly program: string;
  readonly bind: SandboxBind;
}

const inside = '/agent';
type AgentPlace = Pick<AgentSource<never>, 'program' | 'marker' | 'natives'>;

/**
 * The program of an agent, links resolved; in place of a starter of npm what it would start, because nothing around a
 * starter is shown. AGENT_UNAVAILABLE.
 */
export function findAgent(
  source: AgentPlace,
  flags: Readonly<Record<string, string>>,
  searchPath = process.env.PATH ?? '',
): FoundAgent {
  const { marker, natives, program: place } = source;
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
  const native = /\.[cm]?js$/.test(file) ? nativeOf(file, natives) : undefined;
  file = native ?? file;
  const root = path.dirname(path.dirname(file));
  if (existsSync(path.join(root, marker)))
    return {
      program: path.posix.join(inside, path.relative(root, file)),
      bind: { source: root, target: inside, writable: false },
    };
  const program = path.posix.join(inside, path.basename(file));
  return { program, bind: { source: file, target: program, writable: false } };
}

/** As Node would find it from the starter. */
function nativeOf(starter: string, natives: AgentPlace['natives']): string | undefined {
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
    message: `expected a program to start, and ${quoted(wanted)} ${why}`,
    detail: { program: wanted.slice(0, 4096) },
    hints: [hint, `name it: \`--${flag} PATH\``],
  });
}
