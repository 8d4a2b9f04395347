import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { SandboxBackend, TracerProbe } from '../../core/contract/sandbox.ts';
import { findProgram } from '../../engine/tool/find-program.ts';
import type { HostFacts } from './host-view.ts';

const missing = '`strace` is not installed: install the package `strace`';

/** Words that trace what follows: the calls on files and processes, into a file that no process inside can reach. */
export function tracerWords(file: string): readonly string[] {
  const program = findProgram('strace', process.env.PATH ?? '');
  if (program === undefined) throw new WritError('TRACER_UNAVAILABLE', { message: missing });
  const calls = 'trace=%file,%process,fchdir,getdents64';
  return [program, '-f', '--seccomp-bpf', '-qq', '-y', '-e', calls, '-e', 'signal=none', '-o', file, '--'];
}

const answers = new Map<string, Promise<TracerProbe>>();

/** A back end's `probeTracer`: asked once per process for the same name and host facts. */
export function onceTraced(
  name: string,
  facts: HostFacts,
  backend: () => SandboxBackend,
): () => Promise<TracerProbe> {
  const key = JSON.stringify([name, facts.path, facts.home, facts.execPath]);
  return () => {
    const answer =
      answers.get(key) ??
      probeTracer(backend()).catch((fault: unknown) => ({ works: false, reason: messageOf(fault) }));
    answers.set(key, answer);
    return answer;
  };
}

/** Traces a command that looks for a file which is not there, and looks whether the trace says so. */
async function probeTracer(backend: SandboxBackend): Promise<TracerProbe> {
  const scratch = await mkdtemp(join(await realpath(tmpdir()), 'writ-tracer-'));
  try {
    const [workspace, reports, traceTo] = ['workspace', 'reports', 'trace'].map((one) => join(scratch, one));
    if (workspace === undefined || reports === undefined || traceTo === undefined) return { works: false };
    await mkdir(join(workspace, '.git'), { recursive: true });
    await mkdir(reports);
    const { exitCode, stderr } = await backend.run({
      argv: ['/bin/sh', '-c', '[ -e looked-for ] || exit 3'],
      workspace,
      reports,
      binds: [],
      env: {},
      network: 'none',
      timeoutMs: 20_000,
      maxOutputBytes: 65_536,
      traceTo,
    });
    const said = stderr.bytes.toString('utf8').trim().slice(0, 300);
    if (exitCode !== 3)
      return { works: false, reason: `\`strace\` does not work in sandbox \`${backend.name}\`: ${said}` };
    const trace = await readFile(traceTo, 'latin1');
    if (/looked-for".{0,200} = -1 ENOENT/.test(trace)) return { works: true };
    return { works: false, reason: '`strace` does not report what a command looks for' };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
