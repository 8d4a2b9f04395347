/* Runs commands of checks: reuses signed verdicts (`[verdicts]`), asks workers, or runs the command here. */
import { createPublicKey } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { SignedResult } from '../../plugins/workers/result.ts';
import type {
  HeldVerdict,
  KeptVerdict,
  ObservedTree,
  VerdictDemands,
} from '../../plugins/workers/verdict.ts';
import { readLinks } from '../../readers/judges/tree.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { stateDirectory } from '../../workspace/git/repository.ts';
import { listTree } from '../../workspace/git/tree.ts';
import type { VerdictsConfig } from '../config/workers-section.ts';
import type { Attempt } from '../state/open-run.ts';
import { type TracedRun, tracedIn } from './observe/under-tracer.ts';
import {
  boundHere,
  type Command,
  isSameOutcome,
  openDescriber,
  openWorkers,
  type RanCommand,
  type RanElsewhere,
  ranAs,
  resultFinding,
  type Workers,
  type WrittenElsewhere,
} from './run-on-workers.ts';
import { vouchedCacheOf } from './workspace-dependencies/shared-directory.ts';

/** Variables of a run: under reuse each has the same value in every run, unless the command names it. */
const constants: Readonly<Record<string, string>> = {
  RUN_ID: '00000000-0000-7000-8000-000000000000',
  BASE_SHA: '0'.repeat(40),
  PATCHSET_DIGEST: '0'.repeat(64),
};
/** Of the same conditions: the newest verdicts that are looked at. */
const mostKept = 64;
const mostConditions = 256;
const dayMs = 86_400_000;
const markers = 'unverifiable';

/** Another workspace like that of a command. */
export interface FreshWorkspace {
  /** Where it is inside the sandbox. */
  readonly root: string;
  run(changes: TracedRun & { readonly env: Readonly<Record<string, string>> }): Promise<RanCommand>;
  written(): Promise<WrittenElsewhere>;
}

/** The ways to run a command on this machine. */
export interface WaysHere {
  /** In the workspace of its check. */
  run(): Promise<RanCommand>;
  /** In a fresh one, which is deleted afterwards. */
  inFresh<T>(act: (fresh: FreshWorkspace) => Promise<T>): Promise<T>;
}

/** Runs the commands of one epoch of an attempt. */
export interface Elsewhere {
  run(command: Command, ways: WaysHere): Promise<RanElsewhere>;
  /** Results that differ or did not count, since the last call. */
  findings(): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

/** `undefined` if the policy commit neither names workers nor allows reuse: every command runs here then. */
export function openElsewhere(attempt: Attempt): Elsewhere | undefined {
  const { workers: config, verdicts } = attempt.environment.config;
  if (config === undefined && verdicts === undefined) return undefined;
  const workers = config === undefined ? undefined : openWorkers(attempt, config);
  let describer: ReturnType<typeof openDescriber> | undefined;
  let reuse: ReturnType<typeof openReuse> | undefined;
  const found: Finding[] = [];
  return {
    async run(command, ways) {
      const here = async (why: string): Promise<RanElsewhere> => ({
        ranOn: { here: why },
        ...(await ways.run()),
      });
      const bound = command.bound ?? boundHere(attempt, command);
      if (bound !== undefined) return here(bound);
      describer ??= openDescriber(attempt);
      const job = await (await describer)(command);
      const onWorkers = async (asked: typeof job, to: Workers) => {
        const ran = await to.run(command, asked);
        if ('here' in ran) return { ran: await here(ran.here) };
        const { action, answer } = ran;
        await attempt.services.record.put([[`workers/${action}.json`, answer.envelope]]);
        const { worker, fence } = answer;
        const ranOn = { worker: worker.name, keyId: worker.keyId, action, fence };
        return { ran: { ranOn, ...ranAs(answer) }, answer: { ...answer, action } };
      };
      const plainly = async (why: string): Promise<RanElsewhere> =>
        workers === undefined ? here(why) : (await onWorkers(job, workers)).ran;
      // Second runs, with files of the policy commit or of the base, always run.
      if (verdicts === undefined || command.content.tree !== attempt.patch.candidateTree)
        return plainly('it is not about the candidate alone');
      // No digest covers their values.
      if (Object.keys(command.secrets).length > 0) return plainly('it is given secrets');
      const named = Object.keys(constants).find((name) =>
        new RegExp(`\\b${name}\\b`).test(command.check.command ?? ''),
      );
      if (named !== undefined) return plainly(`no verdict can be reused: its command names \`${named}\``);
      reuse ??= openReuse(attempt, verdicts, workers);
      const { find, isSampled, keep, mark, seed, sign } = await reuse;
      const asked = { ...job, env: { ...job.env, ...constants }, expects: command.check.expectedExitCode };
      const held = await find(command, asked);
      if ('unverifiable' in held) return plainly(`no verdict can be reused: ${held.unverifiable}`);
      const { verdict, why } = held;
      const { percent } = verdicts;
      if (verdict !== undefined && !isSampled(seed, held.conditions, percent)) {
        const { action, worker, fence, envelope } = verdict;
        await attempt.services.record.put([[`workers/${action}.json`, envelope]]);
        const reused = { run: verdict.verdict.run, seed, percent };
        const ranOn = { worker: worker.name, keyId: worker.keyId, action, fence, reused };
        return { ranOn, ...ranAs(verdict) };
      }
      const anew = async (): Promise<RanElsewhere> => {
        if (workers !== undefined) {
          const { ran, answer } = await onWorkers(asked, workers);
          if (answer === undefined) return ran;
          if (answer.unverifiable !== undefined) await mark(held.conditions, answer.unverifiable);
          // What it came to may be due to the tracer, or to the variables.
          if (answer.verdict === undefined) return plainly('');
          await keep(held.conditions, answer);
          return ran;
        }
        const traced = await runTraced(attempt, ways, asked.env, held.tree);
        const { exitCode, timedOut } = traced.ran.result;
        if (timedOut || exitCode !== asked.expects) return here(why);
        if ('reason' in traced.seen) {
          await mark(held.conditions, traced.seen.reason);
          return here(`no verdict can be reused: ${traced.seen.reason}`);
        }
        await sign(held.conditions, traced.ran, traced.seen);
        return { ranOn: { here: why }, ...traced.ran };
      };
      const ran = await anew();
      if (verdict === undefined) return ran;
      const { result, files: reports, unread } = ran;
      if (await isSameOutcome(attempt, command, { result, reports, unread }, verdict)) return ran;
      await mark(held.conditions, 'a sample came to another result than a verdict of the same content');
      found.push(mismatch(command, verdict, ran));
      return ran;
    },
    async findings() {
      return [...((await workers?.findings()) ?? []), ...found.splice(0)];
    },
    close: async () => workers?.close(),
  };
}

/** Both results of a command whose verdict did not hold. */
function mismatch(
  { check }: Command,
  { worker, verdict, result, action }: HeldVerdict,
  ran: RanElsewhere,
): Finding {
  const ended = ({ exitCode, signal, timedOut }: RanCommand['result']): string =>
    timedOut ? 'a timeout' : exitCode === undefined ? `signal ${signal}` : `exit code ${exitCode}`;
  const message = `check \`${check.id}\`: the kept verdict of run ${verdict.run}, which \`${worker.name}\` signed, is ${ended(result)}; the sample of this run came to ${ended(ran.result)} and other tests or artifacts: the check is not reproducible, or the verdict is wrong`;
  const results = [result, ran.result].map(({ exitCode, signal, stdout }) => ({
    ended: signal ?? exitCode ?? null,
    output: stdout.bytes.toString('utf8', 0, 2000),
  }));
  return resultFinding('error', 'NOT_REPRODUCIBLE', message, {
    ...{ action, keys: [worker.keyId], run: verdict.run, results },
  });
}

/** Runs a command under the tracer, in a workspace of its own that shows what it wrote. */
async function runTraced(
  { services, environment }: Attempt,
  ways: WaysHere,
  env: Readonly<Record<string, string>>,
  tree: ObservedTree,
) {
  const { observe } = await import('../../plugins/workers/verdict.ts');
  return ways.inFresh(async ({ root, run, written }) => {
    const { ran, read } = await tracedIn(services, root, environment.repository.root, (traced) =>
      run({ ...traced, env }),
    );
    const seen = 'reason' in read ? read : await observe(read.footprint, root, tree);
    return { ran: { ...ran, written: await written() }, seen };
  });
}

type Found = { readonly conditions: string; readonly tree: ObservedTree } & (
  | { readonly unverifiable: string }
  | { readonly verdict?: HeldVerdict; readonly why: string }
);

/** Kept verdicts: of this engine in a cache of the repository, of workers at the remote of their content. */
async function openReuse(attempt: Attempt, config: VerdictsConfig, workers: Workers | undefined) {
  const { services, environment, identity } = attempt;
  const { steps, settings, scratch } = services;
  const [{ conditionsOf, isSampled, parseVerdict, readVerdict, writeVerdict }, { signResult }, remote] =
    await Promise.all([
      import('../../plugins/workers/verdict.ts'),
      import('../../plugins/workers/result.ts'),
      import('../../plugins/workers/content.ts'),
    ]);
  const { findVerdicts, keepVerdict, readFiles } = remote;
  const seed = await steps.once('verdicts/seed', () => randomOctets(32).toString('hex'));
  const signer = services.sealing?.signer;
  const isOwn = signer !== undefined && !signer.ephemeral && signer.certificate === undefined;
  const own: VerdictDemands['signers'] =
    signer === undefined
      ? []
      : [{ name: 'own', keyId: signer.keyId, key: createPublicKey(signer.publicKeyPem), labels: [] }];
  const signers = workers === undefined ? own : (await workers.place()).listed;
  const base = join(stateDirectory(environment.repository, 'cache'), 'verdicts');
  const cacheOf = (folder: string) =>
    vouchedCacheOf(attempt, { folder: join('verdicts', folder), voucher: 'verdict' });
  const tracer = (await environment.sandbox.probeTracer?.()) ?? { works: false };
  const needsTwo = identity.contract.effective.risk.level === 'high';
  const lack =
    needsTwo && workers === undefined
      ? 'at high risk two workers have to agree'
      : workers !== undefined
        ? undefined
        : !isOwn
          ? 'the seal has no key that later runs could know'
          : tracer.works
            ? undefined
            : 'no tracer works here';
  /** A marker is as old as a verdict at most. */
  const markerOf = (conditions: string): string =>
    canonicalDigest([conditions, Math.floor(settings.clock.now() / (config.maxAgeDays * dayMs))]);
  const trees = new Map<string, Promise<ObservedTree>>();
  const treeOf = async (id: string): Promise<ObservedTree> => {
    const entries = await listTree(scratch, id);
    return { entries, links: await readLinks(entries, (paths) => readBlobs(scratch, id, paths)) };
  };

  /** Verdicts that are kept under these conditions, the newest first; each is opened when it is reached. */
  const stored = async (conditions: string): Promise<readonly (() => Promise<KeptVerdict | undefined>)[]> => {
    if (workers === undefined) {
      const cache = await cacheOf(conditions);
      const names = (await byAge(join(base, conditions))).slice(-mostKept).reverse();
      return names.map((name) => async () => {
        const text = await cache.find(name.replace(/\.json$/, ''));
        return text === undefined ? undefined : parseVerdict(text);
      });
    }
    const { content } = await workers.place();
    return (await findVerdicts(content, conditions, mostKept)).map(({ action, commit }) => async () => ({
      action,
      read: (paths, maxBytes) => readFiles(content.place, commit, paths, maxBytes),
    }));
  };

  return {
    seed,
    isSampled,
    /** The verdict of a command that holds for its candidate; or why it has to run. */
    async find(command: Command, job: Parameters<typeof conditionsOf>[0]): Promise<Found> {
      const { content } = command;
      const conditions = conditionsOf(job);
      const reading = trees.get(content.tree) ?? treeOf(content.tree);
      trees.set(content.tree, reading);
      const tree = await reading;
      const marked = lack ?? (await (await cacheOf(markers)).find(markerOf(conditions)));
      if (marked !== undefined) return { conditions, tree, unverifiable: marked };
      const demands = {
        ...{ conditions, signers, tree, maxOutputBytes: job.limits.maxOutputBytes },
        nowMs: settings.clock.now(),
        maxAgeMs: config.maxAgeDays * dayMs,
      };
      const held: HeldVerdict[] = [];
      for (const open of await stored(conditions)) {
        try {
          const kept = await open();
          if (kept !== undefined) held.push(await readVerdict(kept, demands));
        } catch (fault) {
          if (!isWritError(fault)) throw fault;
        }
      }
      const [verdict] = held;
      if (verdict === undefined) return { conditions, tree, why: 'there is no verdict of this content' };
      for (const other of held.slice(1))
        if (!(await isSameOutcome(attempt, command, verdict, other)))
          return { conditions, tree, why: 'kept verdicts of this content differ' };
      const keys = new Set(held.map(({ worker }) => worker.keyId));
      if (needsTwo && keys.size < 2)
        return { conditions, tree, why: 'at high risk two workers have to agree, and one did so far' };
      return { conditions, tree, verdict, why: 'it is a sample: a verdict of this content is compared' };
    },
    /** Remembers that results under these conditions say nothing of other runs. */
    mark: async (conditions: string, why: string) =>
      (await cacheOf(markers)).keep(markerOf(conditions), why.slice(0, 1000)),
    /** Keeps what a worker signed. */
    async keep(conditions: string, { action, commit, verdict, worker: { keyId } }: SignedAnswer) {
      if (workers === undefined || commit === undefined || verdict?.conditions !== conditions) return;
      const { content } = await workers.place();
      const day = Math.floor(settings.clock.now() / dayMs);
      const { maxAgeDays } = config;
      await keepVerdict(content, { conditions, action, keyId, commit }, { day, maxAgeDays });
    },
    /** Signs and keeps what came of a command here. */
    async sign(
      conditions: string,
      { result, files, unread, findings, written }: Omit<Required<RanElsewhere>, 'ranOn'>,
      seen: { readonly bytes: Buffer; readonly digest: string },
    ) {
      if (signer === undefined || findings.length > 0) return;
      const verdict = {
        ...{ conditions, observed: seen.digest, run: identity.runId },
        signedAtMs: settings.clock.now(),
      };
      const ran = { result, reports: files, unread, ...written, verdict, observed: seen.bytes };
      const action = canonicalDigest([conditions, seen.digest]);
      const text = writeVerdict(action, await signResult({ action, fence: 1 }, ran, signer));
      if (text === undefined) return;
      const names = (await byAge(base)).filter((name) => name !== markers);
      for (const name of names.slice(0, Math.max(0, names.length - mostConditions)))
        await rm(join(base, name), { recursive: true, force: true });
      await (await cacheOf(conditions)).keep(action, text);
    },
  };
}

type SignedAnswer = SignedResult & { readonly action: string };

/** Names in a directory, the oldest first. */
async function byAge(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  const ages = await Promise.all(
    names.map(async (name) => {
      const status = await stat(join(directory, name)).catch(() => undefined);
      return { name, at: status?.mtimeMs ?? 0 };
    }),
  );
  return ages.sort((one, other) => one.at - other.at).map(({ name }) => name);
}
