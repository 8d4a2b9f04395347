import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { launcherOptions, writProgram as program } from '../starter/program.ts';

/** Without a word of output. */
const patienceMs = 240_000;

/** A `writ` process at work. */
export interface StartedWrit {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** What it has written so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when `holds` does, after the next output at the latest; rejects with all output when it ends before. */
  until(holds: () => boolean): Promise<void>;
  /** Its exit code, -1 where a signal ended it, once both of its streams are closed. */
  readonly ended: Promise<number>;
}

export interface WritPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts `bin/writ.js` itself with these arguments, and this on its standard input. */
export function startWrit(argv: readonly string[], { cwd, env }: WritPlace, stdin = ''): StartedWrit {
  const child = spawn(process.execPath, [...launcherOptions, program, ...argv], { cwd, env, stdio: 'pipe' });
  const [out, err]: Buffer[][] = [[], []];
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const one of waiting) one();
  };
  child.stdin.end(stdin);
  child.stdout.on('data', (chunk: Buffer) => out?.push(chunk)).on('data', look);
  child.stderr.on('data', (chunk: Buffer) => err?.push(chunk)).on('data', look);
  const textOf = (chunks: readonly Buffer[] | undefined): string => Buffer.concat(chunks ?? []).toString();
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return {
    child,
    pid: child.pid ?? 0,
    out: () => textOf(out),
    err: () => textOf(err),
    ended,
    async until(holds) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const fail = (why: string): void =>
        reject(new Error(`writ ${argv.join(' ')} ${why}: ${textOf(out)}${textOf(err)}`));
      const timer = setTimeout(() => fail('took too long'), patienceMs);
      const check = (): void => {
        timer.refresh();
        if (holds()) resolve();
      };
      waiting.add(check);
      check();
      void ended.then(() => (holds() ? resolve() : fail('ended')));
      await promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
  };
}

/** A `writ` process that has ended. */
export interface EndedWrit {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `bin/writ.js` to its end. */
export async function runWrit(argv: readonly string[], place: WritPlace): Promise<EndedWrit> {
  const started = startWrit(argv, place);
  const code = await codeOf(started);
  return { code, out: started.out(), err: started.err() };
}

/** The exit code of a process that has to end by itself; one that does not is told with what it waits for, and killed. */
export async function codeOf({ child, pid, ended, out, err }: StartedWrit): Promise<number> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const said = `${out().slice(-2000)}${err().slice(-2000)}`;
    reject(new Error(`${child.spawnargs.join(' ')} does not end (${stateOf(pid)}): ${said}`));
    child.kill('SIGKILL');
  }, patienceMs);
  return await Promise.race([ended, promise]).finally(() => clearTimeout(timer));
}

/** What Linux says of a process: whether it lives, what it waits for, what it has open. */
function stateOf(pid: number): string {
  try {
    const at = `/proc/${pid}`;
    const [status, waits] = ['status', 'wchan'].map((name) => readFileSync(`${at}/${name}`, 'utf8'));
    const open = readdirSync(`${at}/fd`).map((fd) => `${fd} ${readlinkSync(`${at}/fd/${fd}`)}`);
    return `${/^State:.*$/m.exec(status ?? '')?.[0]}, waits for ${waits}, open: ${open.join(', ')}`;
  } catch (fault) {
    return `${fault}`;
  }
}
