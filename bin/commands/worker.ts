/* The `writ worker` command: runs checks of other machines, and signs what they came to. */

import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { globalVault, readVault } from '../../api/vault/vault.ts';
import { openIdentity, recipientOf } from '../../attest/keys/age.ts';
import { openKeyFile, openOwnKey } from '../../attest/keys/key-signer.ts';
import { homeOf } from '../../attest/keys/user-config-dir.ts';
import { workerLine } from '../../attest/statement/job-result.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { type LoopbackServer, startLoopbackServer } from '../../http/loopback-server.ts';
import { answerHeaders, type Route } from '../../http/send-answer.ts';
import { listenToQueue, type WakeUp } from '../../plugins/workers/queue.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { openJobRunner } from '../command-parts/run-job.ts';

/** What a worker has done, as `/metrics` names it. */
const counters = ['taken', 'published', 'declined', 'superseded', 'failed'] as const;
/** Messages that it takes beside those that run: fetching and publishing cost no place. */
const ahead = 3;
type Counts = Record<(typeof counters)[number] | 'running', number>;

/** `writ worker`: works until it is interrupted, then finishes what it works on. */
export async function workerCommand(context: CommandContext): Promise<CommandResult> {
  const { options, env, print, signal } = context;
  const home = resolve(context.cwd, options.value('home') ?? defaultHome(env));
  await mkdir(home, { recursive: true, mode: 0o700 });
  const address = await queueAddress(env, options.value('queue') ?? 'WRIT_QUEUE_URL');
  const content = contentOf(context);
  const concurrency = wholeNumber(options.value('concurrency') ?? '1', 1, 64, '--concurrency');
  const port = options.value('health');
  const keyFile = options.value('key');
  const signer =
    keyFile === undefined
      ? await openOwnKey(join(home, 'keys'), 'worker', 'ed25519')
      : await openKeyFile(resolve(context.cwd, keyFile));
  const identity = await openIdentity(join(home, 'keys', 'secrets.txt'));
  const name = options.value('name') ?? hostname().replace(/[^\w.@-]/g, '-');
  const labels = (options.value('labels') ?? '').split(',').filter((label) => label !== '');
  await using engine = await openEngine(context);
  const sandbox = await pickSandbox(options.value('sandbox') ?? 'auto', engine.slots.sandbox);
  const runner = openJobRunner({ home, content, sandbox, signer, identity, atOnce: concurrency });
  const counts: Counts = { taken: 0, published: 0, declined: 0, superseded: 0, failed: 0, running: 0 };
  const stop = new AbortController();

  const work = async ({ action }: WakeUp): Promise<void> => {
    counts.taken += 1;
    counts.running += 1;
    const shown = action.slice(0, 16);
    print.note(`job ${shown} taken`);
    try {
      const { outcome, why } = await runner.run(action, stop.signal);
      counts[outcome] += 1;
      print.note(`job ${shown} ${outcome}${why === undefined ? '' : `: ${why}`}`);
    } catch (fault) {
      counts.failed += 1;
      print.note(`job ${shown} failed: ${isWritError(fault) ? `${fault.code}: ` : ''}${messageOf(fault)}`);
    } finally {
      counts.running -= 1;
    }
  };

  const health =
    port === undefined
      ? undefined
      : await serveHealth(wholeNumber(port, 0, 65_535, '--health'), counts, signal);
  const take = { concurrency: concurrency + ahead, labels };
  const listener = await listenToQueue(address, take, work, (code) =>
    print.note(`the queue does not answer (${code}); the worker goes on trying`),
  );
  try {
    const key = createPublicKey(signer.publicKeyPem);
    const line = workerLine(name, key, labels, await recipientOf(identity));
    print.note(`listed in \`.writ/workers\` as: ${line}`);
    if (health !== undefined) print.note(`health: ${health.baseUrl}/health`);
    print.note(`worker ${name} waits for jobs (sandbox ${sandbox.name}, ${concurrency} at once)`);
    if (!signal.aborted) await once(signal, 'abort');
    print.note(`worker ${name} takes no more jobs and finishes ${counts.running}`);
    await listener.drain();
  } finally {
    await listener.close();
    await runner.close();
    await health?.close(1000);
  }
  const data = { ...counts };
  return succeeded(data, (to) => to.line(`worker ${name} ended: ${counts.published} jobs published`));
}

function defaultHome(env: CommandContext['env']): string {
  const state = env.XDG_STATE_HOME ?? '';
  return join(isAbsolute(state) ? state : join(homeOf(env), '.local', 'state'), 'writ', 'worker');
}

/** The address of the queue, from the environment or the user's vault; never from an argument, which others can see. */
async function queueAddress(env: CommandContext['env'], name: string): Promise<string> {
  if (/[:/]/.test(name))
    throw new WritError('USAGE', {
      message: '`--queue` names a variable or a secret of the vault, never the address of the queue',
    });
  const found = env[name] ?? (await readVault(globalVault(env))).get(name)?.value;
  if (found !== undefined && found !== '') return found;
  throw new WritError('JOB_QUEUE_UNUSABLE', {
    message: `the address of the queue is missing: \`${name}\` is neither in the environment nor in the user's vault`,
    hints: [`set it: \`writ vault set ${name} --global\``],
  });
}

function contentOf({ options, cwd }: CommandContext): string {
  const given = options.value('content');
  if (given === undefined)
    throw new WritError('USAGE', {
      message: '`--content` is missing: name the git remote that holds the files of jobs',
    });
  const isPath = !/^[A-Za-z][\w+.-]*:/.test(given) && !/^[^/]+:/.test(given);
  return isPath ? resolve(cwd, given) : given;
}

function wholeNumber(text: string, least: number, most: number, option: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new WritError('USAGE', { message: `\`${option}\` expects a number from ${least} to ${most}` });
}

/** Answers `/health` and `/metrics` (Prometheus text) on this machine; says nothing of jobs. */
function serveHealth(port: number, counts: Counts, draining: AbortSignal): Promise<LoopbackServer> {
  const metrics = (): string => {
    const total = counters.flatMap((one) => {
      const name = `writ_worker_jobs_${one}_total`;
      return [`# TYPE ${name} counter`, `${name} ${counts[one]}`];
    });
    const running = ['# TYPE writ_worker_jobs_running gauge', `writ_worker_jobs_running ${counts.running}`];
    return `${[...total, ...running].join('\n')}\n`;
  };
  const route = (path: string, textOf: () => string): Route => ({
    method: 'GET',
    path,
    answer({ response }) {
      response.writeHead(path === '/health' && draining.aborted ? 503 : 200, {
        ...answerHeaders,
        'content-type': 'text/plain; charset=utf-8',
      });
      response.end(textOf());
    },
  });
  return startLoopbackServer({
    host: '127.0.0.1',
    port,
    portOption: '--health',
    routes: [route('/health', () => (draining.aborted ? 'draining\n' : 'ok\n')), route('/metrics', metrics)],
    body: { maxBytes: 1024, withinMs: 5000, maxDepth: 1 },
    headersWithinMs: 5000,
    report: () => undefined,
  });
}
