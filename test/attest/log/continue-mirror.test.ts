import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { formatTlogProof, type SignedCheckpoint } from '../../../attest/log/checkpoint.ts';
import { compareSeen } from '../../../attest/log/checkpoint-memory.ts';
import { mirrorRef } from '../../../attest/log/git-mirror.ts';
import type { InternalLedger } from '../../../attest/log/internal-ledger.ts';
import {
  createInternalLedgerSource,
  openUserLedger,
  userCheckpointMemory,
} from '../../../attest/log/internal-ledger-source.ts';
import { ledgerPath } from '../../../attest/log/ledger-files.ts';
import { checkProofs } from '../../../attest/log/proven-runs.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { WritError } from '../../../core/base/errors.ts';
import type { LogProof, SealingPlace } from '../../../core/interfaces/sealing.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { runLine } from '../../bin/host.ts';
import { long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { makeRepository, type SampleRepository } from '../../workspace/git/sample-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-continue-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const bare = join(root, 'remote.git');
makeRepository(bare, '--bare');

interface Runner {
  readonly repository: SampleRepository;
  readonly home: string;
  readonly ledger: InternalLedger;
  readonly reports: WritError[];
  push(): void;
  fetch(): void;
  /** `writ push` or `writ fetch`, with the shared remote. */
  writ(command: 'push' | 'fetch'): Promise<{ code: number; text: string }>;
  /** Opens the log as the start of a run does. */
  open(): Promise<unknown>;
  /** Stores a sealed run. */
  seal(run: string, proof: LogProof, isRolledBack?: boolean): void;
  /** Holds a checkpoint to what this machine has seen, as `writ verify` does. */
  compare(head: SignedCheckpoint | undefined): Promise<unknown>;
}

/**
 * A machine with a clone of its own; `keysOf` is the machine whose keys it was given, and nothing else. Without `mirror`
 * git carries no copy of the log.
 */
async function makeRunner(name: string, keysOf?: Runner, mirror = true): Promise<Runner> {
  const repository = makeRepository(join(root, name, 'repo'));
  const home = join(root, name, 'home');
  mkdirSync(home);
  const keys = join('.config', 'writ', 'keys');
  if (keysOf) cpSync(join(keysOf.home, keys), join(home, keys), { recursive: true });
  const reports: WritError[] = [];
  const opened = await openRepository(repository.dir);
  const ledger = openUserLedger(
    opened.commonDir,
    { HOME: home },
    systemClock,
    mirror ? opened : undefined,
    (notice) => reports.push(notice),
    opened,
  );
  return {
    repository,
    home,
    ledger,
    reports,
    push: () => void repository.git('push', '-q', bare, 'refs/ai/*:refs/ai/*'),
    fetch: () => void repository.git('fetch', '-q', bare, '+refs/ai/*:refs/ai/*'),
    writ: async (command) => {
      const { code, out, err } = await runLine([command, bare], commands, {
        cwd: repository.dir,
        env: { HOME: home },
      });
      return { code, text: `${out}${err}` };
    },
    open: () =>
      createInternalLedgerSource({ HOME: home }, systemClock, (notice) => reports.push(notice)).open(
        {
          commonDir: opened.commonDir,
          repository: opened,
          config: { log: { 'internal-ledger': { mirror: mirror ? 'git' : 'none' } } },
        } as unknown as SealingPlace,
        undefined as never,
      ),
    seal: (run, proof, isRolledBack = false) => {
      const blob = repository.gitInput(formatTlogProof(proof), 'hash-object', '-w', '--stdin').trim();
      const paths = [...(isRolledBack ? ['rollback.json'] : []), 'transparency-proof.tlog-proof'];
      const tree = repository
        .gitInput(paths.map((path) => `100644 blob ${blob}\t${path}\n`).join(''), 'mktree')
        .trim();
      repository.git(
        'update-ref',
        `refs/ai/runs/${run}`,
        repository.git('commit-tree', tree, '-m', run).trim(),
      );
    },
    compare: async (head) => head && compareSeen(head, userCheckpointMemory({ HOME: home })),
  };
}

const entry = (text: string): Buffer => Buffer.from(text);

t.test('a machine without a ledger continues the log that it fetched', async (t) => {
  const first = await makeRunner('first');
  await first.ledger.appendAll(Array.from({ length: 300 }, (_, n) => entry(`first ${n}`)));
  first.push();
  const origin = (await first.ledger.head())?.origin ?? '';

  const fresh = await makeRunner('fresh', first);
  fresh.fetch();
  t.equal((await fresh.ledger.vkey()).split('+')[0], origin, 'its name is known before an entry is made');
  const proof = await fresh.ledger.append(entry('fresh'));
  t.strictSame([proof.origin, proof.logIndex], [origin, 300]);
  t.match(fresh.reports, [{ code: 'LEDGER_BEHIND', detail: { here: 0, size: 300 } }], 'reported once');
  t.match(await fresh.ledger.consistency(300), { from: { size: 300 }, to: { size: 301 } });
  fresh.push();

  await t.test('a restored ledger that is older than the ref continues from the ref', async (t) => {
    first.fetch();
    t.strictSame((await first.ledger.append(entry('back'))).logIndex, 301);
    t.match(first.reports, [
      {
        code: 'LEDGER_BEHIND',
        message: `the ledger here has 300 entries, and \`${mirrorRef(origin)}\` has 301: writ continues the log in git`,
      },
    ]);
    t.match(await first.ledger.prove(300), { body: entry('fresh') });
    first.push();
  });

  await t.test(
    '`writ fetch` reports that an older ledger continues from the ref, which is here already',
    async (t) => {
      fresh.fetch();
      const { code, text } = await fresh.writ('fetch');
      t.equal(code, 0);
      t.match(
        text,
        `updated  ${mirrorRef(origin)}  the ledger here had 301 entries; it continues with the 302`,
      );
      t.match(await fresh.writ('fetch'), { code: 0, text: /^up to date/ }, 'once');
    },
  );

  await t.test('an older copy than this user has seen is not continued', async (t) => {
    const again = await makeRunner('again', first);
    cpSync(join(first.home, '.config'), join(again.home, '.config'), { recursive: true });
    again.repository.git('fetch', '-q', bare, `+${mirrorRef(origin)}:${mirrorRef(origin)}`);
    again.repository.git('update-ref', mirrorRef(origin), `${mirrorRef(origin)}~1`);
    await t.rejects(again.open(), { code: 'LOG_FAILED', message: /fetch first, `writ fetch`/ });
    await t.rejects(again.ledger.append(entry('apart')), { code: 'LOG_FAILED', detail: { seen: 302 } });
    t.equal((await again.writ('fetch')).code, 0);
    await again.open();
    t.equal((await again.ledger.append(entry('together'))).logIndex, 302);

    await t.test('an old ledger of the same user is not continued either', async (t) => {
      const second = await makeRunner('second', first);
      cpSync(join(again.home, '.config'), join(second.home, '.config'), { recursive: true });
      cpSync(
        join(first.repository.dir, '.git', ledgerPath),
        join(second.repository.dir, '.git', ledgerPath),
        {
          recursive: true,
        },
      );
      await t.rejects(second.open(), { code: 'LOG_FAILED', detail: { seen: 303, size: 302 } });
    });
  });
});

long('two machines append at once', async (t) => {
  const e = await makeRunner('e');
  await e.ledger.append(entry('shared'));
  t.equal((await e.writ('push')).code, 0);
  const f = await makeRunner('f', e);
  const plain = await makeRunner('plain', e);
  for (const machine of [f, plain]) {
    t.equal((await machine.writ('fetch')).code, 0);
    const proof = await machine.ledger.append(entry(`of ${machine.home}`));
    machine.seal(`r-${machine.home.length}`, proof, machine === plain);
  }
  const run = `refs/ai/runs/r-${f.home.length}`;
  e.seal('re', await e.ledger.append(entry('of e')));
  t.equal((await e.writ('push')).code, 0);
  const published = await e.ledger.head();
  const unpublished = await f.ledger.head();

  await t.test('`writ fetch` follows the published log', async (t) => {
    await t.rejects(f.compare(published), { code: 'VERIFY_REFUTED', detail: { reason: 'forked' } });
    const fetched = await f.writ('fetch');
    t.match(fetched, {
      code: 0,
      text: new RegExp(`replaced .*\`${run}\` cannot be made again: run the spec again`),
    });
    t.equal((await f.ledger.head())?.source, published?.source);
    const kept = /kept in `([^`]+)`/.exec(fetched.text)?.[1] ?? '';
    t.equal(readFileSync(join(kept, 'checkpoint'), 'utf8'), unpublished?.source, 'nothing is deleted');
    t.not(await f.compare(published), undefined, 'the commit of the first machine verifies');
    t.notOk(existsSync(join(kept, 'settled')), 'a later push looks for the run again');
  });

  await t.test('a process that was killed between its last two steps is finished by the next', async (t) => {
    const ledger = join(f.repository.dir, '.git', ledgerPath);
    renameSync(ledger, `${ledger}-next`);
    t.equal((await f.writ('fetch')).code, 0);
    t.equal((await f.ledger.head())?.source, published?.source);
  });

  await t.test('the spec runs again, and only that run is published', async (t) => {
    await f.open();
    const again = await f.ledger.append(entry('again'));
    t.strictSame([again.origin, again.logIndex], [published?.origin, 2]);
    f.seal('again', again);
    const pushed = await f.writ('push');
    t.match(pushed, {
      code: 1,
      text: new RegExp(`rejected +${run} +its log entry is not in the published log`),
    });
    t.strictSame(f.repository.git('ls-remote', bare, 'refs/ai/runs/*').match(/runs\/.*/g), [
      'runs/again',
      'runs/re',
    ]);
    const fresh = await makeRunner('fresh-f', f);
    cpSync(join(f.home, '.config'), join(fresh.home, '.config'), { recursive: true });
    t.equal((await fresh.writ('fetch')).code, 0);
    t.equal((await fresh.ledger.append(entry('fresh'))).logIndex, 3);
  });

  await t.test('after `git fetch` the start of a run follows the published log', async (t) => {
    plain.fetch();
    const under = 'refs/x-team/records/runs/r';
    plain.repository.git('update-ref', under, `refs/ai/runs/r-${plain.home.length}`);
    await plain.open();
    const runs = [`refs/ai/runs/r-${plain.home.length}`, under];
    t.match(plain.reports.at(-1), { code: 'LEDGER_REPLACED', detail: { before: 2, size: 3, runs } });
    t.equal((await plain.ledger.head())?.size, 3);
    t.not(await plain.compare(published), undefined);
    t.equal((await plain.writ('fetch')).code, 0);
    const kept = String(plain.reports.at(-1)?.detail.kept);
    t.ok(existsSync(join(kept, 'settled')), 'runs that were rolled back need no entry');
  });

  await t.test('entries that were published are never given up', async (t) => {
    const last = await f.ledger.head();
    await e.ledger.append(entry('another third'));
    e.repository.git('push', '-q', '-f', bare, 'refs/ai/ledger/*:refs/ai/ledger/*');
    t.match(await f.writ('fetch'), { code: 1, text: /LOG_FAILED.*the log was rewritten at the remote/ });
    await t.rejects(f.open(), { code: 'LOG_FAILED' }, 'and no run begins');
    t.equal((await f.ledger.head())?.source, last?.source);
    await t.rejects(f.compare(await e.ledger.head()), {
      code: 'VERIFY_REFUTED',
      detail: { reason: 'forked' },
    });
  });
});

t.test('a copy that is older than the runs that came with it is not continued', async (t) => {
  const shared = join(root, 'behind.git');
  makeRepository(shared, '--bare');
  const maker = await makeRunner('maker');
  for (const name of ['a', 'b', 'c']) maker.seal(name, await maker.ledger.append(entry(name)));
  const { origin = '' } = (await maker.ledger.head()) ?? {};
  maker.repository.git('push', '-q', shared, 'refs/ai/*:refs/ai/*');
  const late = await makeRunner('late', maker);
  late.repository.git('fetch', '-q', shared, '+refs/ai/*:refs/ai/*');
  const newest = late.repository.git('rev-parse', mirrorRef(origin)).trim();
  late.repository.git('update-ref', mirrorRef(origin), `${newest}~1`);
  const refusal = { code: 'LOG_FAILED', detail: { ref: 'refs/ai/runs/c', found: 3, size: 2 } };
  await t.rejects(late.open(), refusal, 'before any work');
  await t.rejects(late.ledger.append(entry('d')), refusal);
  late.repository.git('update-ref', mirrorRef(origin), newest);
  await late.open();
  t.equal((await late.ledger.append(entry('d'))).logIndex, 3);
});

t.test('a copy that another key signed is not continued', async (t) => {
  const stranger = await makeRunner('stranger');
  stranger.fetch();
  t.equal((await stranger.ledger.append(entry('mine'))).logIndex, 0);
  t.strictSame(stranger.reports, []);
});

long('without a copy in git, stored runs show that a restored ledger is too old', async (t) => {
  const shared = join(root, 'plain.git');
  makeRepository(shared, '--bare');
  const move = (machine: Runner, ...words: string[]) => machine.repository.git(...words);
  const push = (machine: Runner) => move(machine, 'push', '-q', shared, 'refs/ai/*:refs/ai/*');
  const fetch = (machine: Runner) => move(machine, 'fetch', '-q', shared, '+refs/ai/*:refs/ai/*');
  const ledgerOf = (machine: Runner) => join(machine.repository.dir, '.git', ledgerPath);
  const add = async (machine: Runner, name: string) => {
    const proof = await machine.ledger.append(entry(name));
    machine.seal(name, proof);
    return proof;
  };
  const restore = (machine: Runner, from: Runner, cache: string) => {
    cpSync(join(from.home, '.config'), join(machine.home, '.config'), { recursive: true });
    cpSync(cache, ledgerOf(machine), { recursive: true });
  };

  const whole = await makeRunner('whole', undefined, false);
  const { origin } = await add(whole, 'x1');
  const cache = join(root, 'cache');
  await whole.open();
  cpSync(ledgerOf(whole), cache, { recursive: true });
  const [old, apart] = [await makeRunner('old', whole, false), await makeRunner('apart', whole, false)];
  for (const machine of [old, apart]) restore(machine, whole, cache);
  await add(whole, 'x2');
  await add(whole, 'x3');
  push(whole);

  await t.test('a run is refused before work, and so is an append', async (t) => {
    fetch(old);
    const refusal = { code: 'LOG_FAILED', detail: { ref: 'refs/ai/runs/x3', origin, found: 3, size: 1 } };
    await t.rejects(old.open(), refusal);
    await t.rejects(old.ledger.append(entry('y1')), refusal);
    t.equal(await old.ledger.size(), 1);
    await whole.open();
    t.equal((await whole.ledger.append(entry('goes on'))).logIndex, 3);
  });

  await t.test('records that were compared are not read again, unless the ledger was put back', async (t) => {
    const compared = readFileSync(join(ledgerOf(whole), 'compared-runs'), 'utf8');
    for (const run of ['x1', 'x2', 'x3']) t.match(compared, move(whole, 'rev-parse', `refs/ai/runs/${run}`));
    await whole.open();
    t.equal(readFileSync(join(ledgerOf(whole), 'compared-runs'), 'utf8'), compared);
    cpSync(join(ledgerOf(whole), 'compared-runs'), join(ledgerOf(old), 'compared-runs'));
    await t.rejects(old.open(), { code: 'LOG_FAILED' });
  });

  await t.test('a proof of another key is no proof of a fork', async (t) => {
    const stranger = await makeRunner('another', undefined, false);
    const proof = await add(stranger, 'ours');
    const checkpoint = proof.checkpoint.replaceAll(proof.origin, origin).replace(/^1$/m, '9');
    whole.seal('forged', { ...proof, checkpoint });
    await t.resolves(whole.open());
  });

  await t.test('a log that was forked unseen goes no further, and its runs are not pushed', async (t) => {
    await add(apart, 'y1');
    fetch(apart);
    const { code, text } = await apart.writ('push');
    t.equal(code, 1, text);
    t.match(text, /rejected +refs\/ai\/runs\/y1 .*the first 2 entries are not those of `refs\/ai\/runs\/x2`/);
    t.notMatch(text, /rejected +refs\/ai\/runs\/x/, 'what others published is not in the way');
    await t.rejects(apart.open(), { code: 'LOG_FAILED', detail: { ref: 'refs/ai/runs/x3' } });
    const opened = await openRepository(apart.repository.dir);
    t.match(await checkProofs(opened), [
      { code: 'ledger-checkpoint', where: 'refs/ai/runs/x2', what: /2 entries .* not those of the log here/ },
    ]);
    for (const part of ['tile', 'compared-runs']) rmSync(join(ledgerOf(apart), part), { recursive: true });
    t.equal((await apart.writ('push')).code, 0, 'a damaged ledger shows nothing');
    rmSync(ledgerOf(apart), { recursive: true });
    t.match(await checkProofs(opened), [
      { where: 'refs/ai/runs/y1', what: /not those of `refs\/ai\/runs\/x2`/ },
    ]);
    move(whole, 'fetch', '-q', apart.repository.dir, 'refs/ai/runs/y1:refs/ai/runs/y1');
    await t.rejects(whole.open(), { code: 'LOG_FORKED', detail: { ref: 'refs/ai/runs/y1' } });
    move(whole, 'update-ref', '-d', 'refs/ai/runs/y1');
  });

  await t.test('an older ledger than this user has seen is refused before work, too', async (t) => {
    const back = await makeRunner('back', whole, false);
    restore(back, whole, cache);
    await t.rejects(back.open(), { code: 'LEDGER_CORRUPT' });
  });

  await t.test('each next step that the refusal names helps', async (t) => {
    const fresh = await makeRunner('fresh-log', whole, false);
    restore(fresh, old, cache);
    fetch(fresh);
    const refusal = await fresh.open().then(
      () => new Error('it opened'),
      (fault: WritError) => fault,
    );
    t.match(refusal, { hints: [/newest/, /mirror = "git"/, /start a new log/] });
    const [, newLog = ''] = /`(.+)`/.exec('hints' in refusal ? (refusal.hints[2] ?? '') : '') ?? [];
    t.match(newLog, /git update-ref -d refs\/ai\/ledger\//, 'the copy in git, too');
    cpSync(ledgerOf(whole), ledgerOf(fresh), { recursive: true });
    await fresh.open();
    outputOf('sh', ['-c', newLog], { cwd: fresh.repository.dir });
    await fresh.open();
    t.not((await add(fresh, 'new')).origin, origin);

    const { commonDir } = await openRepository(whole.repository.dir);
    const carried = openUserLedger(
      commonDir,
      { HOME: whole.home },
      systemClock,
      await openRepository(whole.repository.dir),
    );
    await carried.append(entry('carried'));
    push(whole);
    fetch(old);
    await t.rejects(old.open(), { code: 'LOG_FAILED', detail: { ref: mirrorRef(origin), found: 5 } });
    const repository = await openRepository(old.repository.dir);
    const next = openUserLedger(repository.commonDir, { HOME: old.home }, systemClock, repository);
    t.equal((await next.append(entry('y1'))).logIndex, 5);
  });
});
