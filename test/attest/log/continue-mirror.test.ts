import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { mirrorRef } from '../../../attest/log/git-mirror.ts';
import type { InternalLedger } from '../../../attest/log/internal-ledger.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { ledgerPath } from '../../../attest/log/ledger-path.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { WritError } from '../../../core/base/errors.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { makeRepository, type SampleRepository } from '../../engine/vcs/sample-repository.ts';

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
}

/** A machine with a clone of its own; `keysOf` is the machine whose keys it was given, and nothing else. */
async function makeRunner(name: string, keysOf?: Runner): Promise<Runner> {
  const repository = makeRepository(join(root, name, 'repo'));
  const home = join(root, name, 'home');
  mkdirSync(home);
  const keys = join('.config', 'writ', 'keys');
  if (keysOf) cpSync(join(keysOf.home, keys), join(home, keys), { recursive: true });
  const reports: WritError[] = [];
  const opened = await openRepository(repository.dir);
  const ledger = openUserLedger(opened.commonDir, { HOME: home }, systemClock, opened, (notice) =>
    reports.push(notice),
  );
  return {
    repository,
    home,
    ledger,
    reports,
    push: () => void repository.git('push', '-q', bare, 'refs/ai/*:refs/ai/*'),
    fetch: () => void repository.git('fetch', '-q', bare, '+refs/ai/*:refs/ai/*'),
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

  await t.test('an older copy than this user has seen is not continued', async (t) => {
    const again = await makeRunner('again', first);
    cpSync(join(first.home, '.config'), join(again.home, '.config'), { recursive: true });
    again.repository.git('fetch', '-q', bare, `+${mirrorRef(origin)}:${mirrorRef(origin)}`);
    again.repository.git('update-ref', mirrorRef(origin), `${mirrorRef(origin)}~1`);
    t.not((await again.ledger.append(entry('apart'))).origin, origin, 'that would fork the log');
  });

  await t.test('a copy of another history is refused', async (t) => {
    const fork = await makeRunner('fork', first);
    const directory = join(fork.repository.dir, '.git', ledgerPath);
    cpSync(join(fresh.repository.dir, '.git', ledgerPath), directory, { recursive: true });
    await fork.ledger.append(entry('not in the log'));
    fork.fetch();
    first.fetch();
    await first.ledger.append(entry('one more'));
    first.push();
    fork.fetch();
    await t.rejects(fork.ledger.append(entry('again')), { code: 'LOG_FAILED', detail: { size: 302 } });
  });
});

t.test('a copy that another key signed is not continued', async (t) => {
  const stranger = await makeRunner('stranger');
  stranger.fetch();
  t.equal((await stranger.ledger.append(entry('mine'))).logIndex, 0);
  t.strictSame(stranger.reports, []);
});
