import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory } from '../../test/rooms/temporary-directory.ts';
import { filesEntry } from '../tests/files-entry.ts';

/** How a file of tests that did not pass ended: the name of what failed, or that it did not end. */
export type Failure = { readonly failed: string } | { readonly failed?: undefined };

/** What is said of a file of tests that did not end. */
export const noEnd = 'no end';

/** A process namespace of its own, and TMPDIR in memory: what a broken program leaves behind ends with it. */
const ownWorld = [
  'unshare',
  ...['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'],
  ...['sh', '-c', 'mount -t tmpfs -o mode=1777 writ-tests "$TMPDIR" && "$@"; exit $?', 'sh'],
];

/**
 * Runs a file of tests in a tree until something in it fails, and kills it then. One that is silent past `timeoutMs`
 * has failed.
 */
export function runUntilFailure(tree: string, test: string, timeoutMs: number): Promise<Failure> {
  const temporary = makeTemporaryDirectory();
  return new Promise<Failure>((done) => {
    const before = process.getuid?.() === 0 ? ownWorld : [];
    const [program = '', ...args] = [...before, process.execPath, ...filesEntry([test]).argv];
    const child = spawn(program, args, {
      cwd: tree,
      env: {
        ...process.env,
        TMPDIR: temporary,
        NODE_COMPILE_CACHE: join(tree, '.compiled'),
        TAP_BAIL: '1',
        TAP_TIMEOUT: String(Math.ceil(timeoutMs / 1000)),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    let failed: string | undefined;
    const fail = (what: string): void => {
      failed ??= what;
      child.kill('SIGKILL');
    };
    const deadline = setTimeout(() => fail(noEnd), timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const line = /^ *not ok (?:\d+ )?(?:- )?(.*?)(?: # time=.*)?\n/m.exec(said)?.[1];
      if (line !== undefined) fail(line === '' ? 'not ok' : line);
      said = said.slice(-100_000);
    });
    child.on('close', (status) => {
      clearTimeout(deadline);
      if (failed === undefined && status !== 0) failed = `exit ${status}`;
      done(failed === undefined ? {} : { failed });
    });
  }).finally(() => rmSync(temporary, { recursive: true, force: true }));
}
