import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServicePlace, type ServicePlace, serviceStatus } from '../../../service/find-service.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { chooseKill, type KillChoice, type KillKind } from './choose-kill.ts';
import { runClients } from './clients.ts';
import { type Instance, type KillPlace, startInstance } from './instance.ts';
import { knowMarks } from './known-marks.ts';
import { askMarks, lookAtMarks, lookForLitter } from './look.ts';

export interface KillOptions {
  /** The same seed makes the same choices; instants still depend on the machine. */
  readonly seed: number;
  readonly rounds: number;
  readonly report?: (line: string) => void;
}

/** What came of it; complaints name their round and its choices, and the directory that is kept. */
export interface KillReport {
  readonly kinds: Readonly<Partial<Record<KillKind, number>>>;
  readonly races: number;
  /** Starts that a kill kept from ever serving. */
  readonly killedBeforeServing: number;
  readonly secondsThatTookOver: number;
  readonly batches: number;
  readonly clears: number;
  readonly unacknowledged: { readonly done: number; readonly undone: number };
  /** From the start of a process to its word that it serves, milliseconds. */
  readonly undisturbedMs: number;
  /** The same behind a kill, with nothing cleaned up. */
  readonly startsMs: readonly number[];
  readonly complaints: readonly string[];
}

const mostRows = 5_000;
const rowsPerRound = 3_500;

/**
 * Kills services of one repository over and over, at instants spread over their start, their work and their end, while
 * clients write, clear and listen; after each kill the next start must serve at once, and what it lists must be what
 * was acknowledged, with no batch and no page in half.
 */
export async function killServices({ seed, rounds, report = () => {} }: KillOptions): Promise<KillReport> {
  const random = seededRandom(seed);
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-service-kill-')));
  const place = makePlace(box);
  const servicePlace = await findServicePlace(await openRepository(place.repo));
  const known = knowMarks();
  const all: string[] = [];
  const tally = { races: 0, killedBeforeServing: 0, secondsThatTookOver: 0, batches: 0, clears: 0 };
  const kinds: Partial<Record<KillKind, number>> = {};
  const startsMs: number[] = [];
  const tokens = new Set<string>();
  let complaints: string[] = [];
  /** One that took over from a killed one while it started. */
  let standing: Instance | undefined;
  const undisturbedMs = await undisturbed();

  for (let round = 0; round < rounds; round += 1) {
    const choice = chooseKill(random, round);
    complaints = [];
    kinds[choice.kind] = (kinds[choice.kind] ?? 0) + 1;
    await oneRound(choice).catch((fault: unknown) => {
      complaints.push(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    });
    const label = `seed ${seed} round ${round} ${JSON.stringify(choice)}`;
    report(`${complaints.length === 0 ? 'ok' : 'NOT OK'} ${label}`);
    for (const one of complaints) report(`  ${one}`);
    all.push(...complaints.map((one) => `${label}, kept in ${box}: ${one}`));
  }
  standing?.kill('SIGKILL');
  await standing?.ended;
  await settleAll().catch((fault: unknown) => {
    all.push(`at the end: ${String(fault)}`);
  });
  if (all.length === 0) rmSync(box, { recursive: true, force: true });
  const { unacknowledged } = known;
  return { kinds, ...tally, unacknowledged, undisturbedMs, startsMs, complaints: all };

  async function oneRound(choice: KillChoice): Promise<void> {
    if (choice.plants && standing === undefined) plant(servicePlace);
    if (choice.kind === 'starting' && standing === undefined) {
      const starting = [start(), ...(choice.race ? [start()] : [])];
      await instant(undisturbedMs * choice.ofStart);
      for (const one of starting) one.kill('SIGKILL');
      for (const one of starting) {
        await one.ended;
        if (!(await one.outcome).serves) tally.killedBeforeServing += 1;
      }
      await afterKill(choice, undefined);
      return;
    }
    const { instance, url, token } = await serve(choice.race);
    if (known.settled.length > mostRows) await sweepWhole(url, token);
    const clears = choice.kind === 'paging' ? 'pages' : choice.kind === 'sweeping' ? 'all' : 'none';
    const clients = runClients(
      { url, token, random, writers: choice.writers, rows: rowsPerRound, clears },
      known,
    );
    const count = clears === 'none' ? clients.acknowledged : clients.cleared;
    const goesOn = (): boolean => count() < choice.answers && !clients.asksNoMore() && !instance.isOver();
    await until(() => !goesOn(), 'an answer', count);
    await instant(choice.thenMs);
    if (choice.kind === 'stopping') instance.kill('SIGTERM');
    const second = choice.kind === 'second' ? start() : undefined;
    if (second) await instant(undisturbedMs * choice.ofStart);
    if (choice.kind === 'stopping') await Promise.race([instant(choice.thenMs), instance.ended]);
    instance.kill('SIGKILL');
    clients.stop();
    const ended = await instance.ended;
    if (ended !== 'SIGKILL' && !(ended === 0 && choice.kind === 'stopping'))
      complaints.push(`it ended with ${ended}: ${instance.err()}`);
    if (instance.err().includes('INTERNAL')) complaints.push(instance.err());
    complaints.push(...(await clients.done));
    tally.batches += clients.acknowledged();
    tally.clears += clients.cleared();
    if (second && (await second.outcome).serves) {
      tally.secondsThatTookOver += 1;
      standing = second;
      return;
    }
    if (second) await requireRefused(second);
    await afterKill(choice, choice.kind === 'stopping' ? undefined : instance);
    if (ended === 0) complaints.push(...lookForLitter(place, 'stopped'));
  }

  function start(): Instance {
    return startInstance(place, 'service', 'run');
  }

  /** Starts one or two, or takes the one that stands, and looks at everything that the last kill may have harmed. */
  async function serve(race: boolean) {
    const took = standing;
    standing = undefined;
    const started = took ? [took] : race ? [start(), start()] : [start()];
    if (started.length > 1) tally.races += 1;
    const outcomes = await Promise.all(started.map(async (one) => ({ one, outcome: await one.outcome })));
    const serving = outcomes.flatMap(({ one, outcome }) => (outcome.serves ? [{ one, outcome }] : []));
    const [first, ...more] = serving;
    if (first === undefined) throw new Error(`none serves: ${started.map((one) => one.err()).join(' | ')}`);
    if (more.length > 0) complaints.push(`${serving.length} serve at once`);
    for (const { one, outcome } of outcomes) if (!outcome.serves) await requireRefused(one);
    const { url, token, ms } = first.outcome;
    if (!took && !race) startsMs.push(ms);
    if (tokens.has(token) || token.length !== 43)
      complaints.push(`the token is an old one: ${token.length} characters`);
    tokens.add(token);
    complaints.push(...known.judge(await askMarks(url, token)));
    complaints.push(...lookForLitter(place, 'running'));
    const { state, pid, health } = await serviceStatus(servicePlace);
    if (state !== 'running' || pid !== first.one.pid || health !== 'ok')
      complaints.push(`status says ${state}, ${pid}, ${health} of ${first.one.pid}`);
    return { instance: first.one, url, token };
  }

  async function requireRefused(loser: Instance): Promise<void> {
    const code = await loser.ended;
    if (code !== 128 || !loser.err().includes('SERVICE_ALREADY_RUNNING'))
      complaints.push(`one that was too late ended with ${code}: ${loser.err()}`);
  }

  async function afterKill({ looksItself }: KillChoice, victim: Instance | undefined): Promise<void> {
    const { running, state, pid } = await serviceStatus(servicePlace);
    if (running) complaints.push('status says that a killed service runs');
    if (victim && (state !== 'stale' || pid !== victim.pid))
      complaints.push(`status says ${state} of ${pid}, killed was ${victim.pid}`);
    complaints.push(...lookForLitter(place, 'killed'));
    if (!looksItself || !existsSync(servicePlace.database)) return;
    const { found, integrity } = await lookAtMarks(servicePlace);
    complaints.push(...known.judge(found));
    if (integrity !== 'ok') complaints.push(`integrity_check: ${integrity}`);
  }

  async function sweepWhole(url: string, token: string): Promise<void> {
    known.clearSent(undefined);
    const answer = await fetch(`${url}/api/service/dirty/clear`, {
      method: 'POST',
      headers: { 'x-svc-service-token': token, 'content-type': 'application/json' },
      body: '{}',
    });
    const { cleared } = (await answer.json()) as { readonly cleared: readonly { readonly path: string }[] };
    complaints.push(...known.clearAnswered(cleared.map(({ path }) => path)));
    complaints.push(...known.judge(await askMarks(url, token)));
  }

  /** The last round's kill is followed by a start like every other one. */
  async function settleAll(): Promise<void> {
    complaints = [];
    const { instance } = await serve(false);
    instance.kill('SIGTERM');
    const code = await instance.ended;
    if (code !== 0) complaints.push(`told to stop it ended with ${code}: ${instance.err()}`);
    complaints.push(...lookForLitter(place, 'stopped'));
    const { found, integrity } = await lookAtMarks(servicePlace);
    complaints.push(...known.judge(found));
    if (integrity !== 'ok') complaints.push(`integrity_check: ${integrity}`);
    all.push(...complaints.map((one) => `at the end, kept in ${box}: ${one}`));
  }

  /** The first fills the compile cache, the second is measured. */
  async function undisturbed(): Promise<number> {
    let ms = 0;
    for (let times = 0; times < 2; times += 1) {
      const instance = start();
      const outcome = await instance.outcome;
      if (!outcome.serves) throw new Error(`an undisturbed start does not serve: ${instance.err()}`);
      ms = outcome.ms;
      instance.kill('SIGTERM');
      await instance.ended;
      const litter = lookForLitter(place, 'stopped');
      if (litter.length > 0) throw new Error(litter.join(', '));
    }
    return ms;
  }
}

function plant({ directory }: ServicePlace): void {
  writeFileSync(join(directory, 'tmp_writ_0123456789abcdef'), 'half a tok', { mode: 0o600 });
}

function makePlace(box: string): KillPlace {
  const [repo, home] = [join(box, 'repo'), join(box, 'home')];
  for (const path of [repo, home]) mkdirSync(path);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(box, 'compile-cache'),
  };
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], { cwd: repo, env });
  return { box, repo, directory: join(repo, '.writ', 'service'), env };
}
