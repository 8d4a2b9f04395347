import { spawn } from 'node:child_process';
import { shortVariable } from '../../test/rooms/long.ts';
import { patienceVariable } from '../../test/waiting/until.ts';

const timeoutMs = 300_000;
/** Many a removal shows in something that never comes. */
const patienceMs = 60_000;

/** What came of a file of tests, or of one test in it. */
export interface NamedTestRun {
  readonly passed: boolean;
  /** Names of what failed, tests before their subtests and assertions; each with the depth that it stands at. */
  readonly failed: readonly FailedName[];
  readonly seconds: number;
  /** Processor seconds of it and of what it started, where it says so. */
  readonly cost?: number;
}

export interface FailedName {
  /** 0 is a test of the file, 1 a subtest or assertion in it. */
  readonly depth: number;
  readonly name: string;
}

/**
 * Runs a file of tests, or only those in it whose names begin with these: of the tests, of the subtests in them, and so
 * on. A test that is silent for five minutes has failed, and so has one that is not there. `inRoom`: as a room runs it,
 * which costs less.
 */
export function runNamedTest(
  tree: string,
  test: string,
  names: readonly string[],
  { env = {}, inRoom = false }: { readonly env?: NodeJS.ProcessEnv; readonly inRoom?: boolean } = {},
): Promise<NamedTestRun> {
  return new Promise((done) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const child = spawn(
      process.execPath,
      inRoom ? ['test/rooms/chosen.ts', test.slice('test/'.length)] : [test],
      {
        cwd: tree,
        env: {
          ...process.env,
          ...env,
          TAP_TIMEOUT: String(timeoutMs / 1000),
          [patienceVariable]: String(patienceMs),
          // What is broken are sources.
          WRIT_TEST_PACKAGE: undefined,
          // A named case may be one that `npm test` leaves out.
          [shortVariable]: undefined,
          ...(names.length === 0 ? {} : { TAP_GREP: names.map(toPattern).join('\n') }),
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const deadline = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      deadline.refresh();
    });
    child.on('close', (status) => {
      clearTimeout(deadline);
      const tap = Buffer.concat(chunks).toString('utf8');
      const failed = [...readFailed(tap), ...sayMissing(tap, names)];
      const cost = /^# cost (\d+\.\d+) s$/m.exec(tap)?.[1];
      done({
        passed: status === 0 && failed.length === 0,
        failed,
        seconds: (performance.now() - started) / 1000,
        ...(cost === undefined ? {} : { cost: Number(cost) }),
      });
    });
  });
}

function toPattern(name: string): string {
  return `/^${name.replace(/[^\w ]/g, '\\$&')}/`;
}

/** A name that no test has is left out with all the others, which would be taken for success. */
function sayMissing(tap: string, [name]: readonly string[]): readonly FailedName[] {
  const ran = [...tap.matchAll(/^(?:not )?ok \d+ - (?!.* # SKIP filter)(.*)$/gm)].map(([, one = '']) => one);
  const isThere = name === undefined ? ran.length > 0 : ran.some((one) => one.startsWith(name));
  return isThere
    ? []
    : [{ depth: 0, name: `no test ran${name === undefined ? '' : ` whose name begins with it`}` }];
}

function readFailed(tap: string): readonly FailedName[] {
  return [...tap.matchAll(/^((?: {4})*)not ok \d+ - (.*?)(?: # time=.*)?$/gm)].map(
    ([, indent = '', name = '']) => ({ depth: indent.length / 4, name }),
  );
}
