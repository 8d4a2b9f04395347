import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { attesting } from '../../attest/attestor/attesting.ts';
import { attestPlugin } from '../../attest/attestor/plugin.ts';
import { generateKey, openUserLedgerKey, toSigner } from '../../attest/keys/key-signer.ts';
import { createEngine } from '../../core/kernel/engine.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { makeRepository } from '../workspace/git/sample-repository.ts';
import { sealingPlace } from './sealing-place.ts';

const throwAway = toSigner(generateKey('ecdsa-p256-sha256'), true);
const open = (env: Record<string, string>, ephemeralKey = false) =>
  createEngine({
    plugins: [attestPlugin({ env, ephemeralKey })],
    rows: contractRows,
    env,
    report: () => {},
    tapTimeoutMs: 1000,
  });

t.test('the attest plugin reads keys only from the environment of the engine', async (t) => {
  const home = t.testdir();
  const pem = generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' }).toString();
  await using engine = await createEngine({
    plugins: [attestPlugin({ env: { HOME: home, UNTOLD: pem }, ephemeralKey: false })],
    rows: contractRows,
    env: { TOLD: pem },
    report: () => {},
  });
  const keys = await engine.slots.signer.pick('env');
  const named = (name: string) => ({ form: 'env', name });
  t.match(await keys.open(named('TOLD')), { algorithm: 'ed25519' });
  await t.rejects(keys.open(named('UNTOLD')), { code: 'KEY_UNUSABLE' });
});

t.test('the attest plugin fills the signer and log slots and writes no file when it loads', async (t) => {
  const home = t.testdir();
  await using engine = await open({ HOME: home });
  t.notOk(existsSync(join(home, '.config')));
  const signer = await engine.slots.signer.pick('default');
  const key = await signer.open({ form: 'default' });
  t.match(key, { algorithm: 'ecdsa-p256-sha256', ephemeral: false });
  const place = sealingPlace(home);
  const none = await engine.slots.log.pick('none');
  t.equal(await none.open(place, key), undefined);
  const internal = await engine.slots.log.pick('internal-ledger');
  const log = await internal.open(place, key);
  t.notOk(existsSync(join(home, 'writ')));
  t.match(await log?.append(Buffer.from('entry')), { logIndex: 0, treeSize: 1 });
  t.ok(existsSync(join(home, 'writ/ledger/checkpoint')));
  t.ok(attesting.attestor);
  const others = await engine.slots.log.pick('public-log');
  await t.rejects(others.open(place, key), { code: 'CONFIG_INVALID' }, 'nobody said which');
});

t.test('a ledger of another key is refused when it is opened, and no file is written', async (t) => {
  const place = t.testdir({ owner: {}, stranger: {} });
  const repository = await openRepository(makeRepository(join(place, 'repository')).dir);
  const sealing = { ...sealingPlace(repository.commonDir), repository };
  const opened = async (home: string) => {
    await using engine = await open({ HOME: join(place, home) });
    return (await engine.slots.log.pick('internal-ledger')).open(sealing, throwAway);
  };
  await (await opened('owner'))?.append(Buffer.from('entry'));
  const before = readdirSync(place, { recursive: true });
  await t.rejects(opened('stranger'), { code: 'LEDGER_FOREIGN' }, 'without a key');
  t.same(readdirSync(place, { recursive: true }), before);
  await openUserLedgerKey({ HOME: join(place, 'stranger') });
  const keyed = readdirSync(place, { recursive: true });
  await t.rejects(opened('stranger'), { code: 'LEDGER_FOREIGN' }, 'with another key');
  t.same(readdirSync(place, { recursive: true }), keyed);
  t.match(await (await opened('owner'))?.append(Buffer.from('next')), { logIndex: 1 });
});

t.test('the attest plugin enforces exactly the contract rows that name it', async (t) => {
  await using engine = await open({ HOME: t.testdir() });
  const claimed = engine.ledger.entries.filter(({ enforcedBy }) => enforcedBy.includes('attest'));
  const named = contractRows.filter(({ enforcedBy }) => enforcedBy === 'attest');
  t.same(claimed.map(({ id }) => id).sort(), named.map(({ id }) => id).sort());
});

t.test('an ephemeral key is used only when the caller requests it', async (t) => {
  await using asked = await open({ HOME: t.testdir(), CI: '1' }, true);
  t.match(await (await asked.slots.signer.pick('default')).open({ form: 'default' }), { ephemeral: true });
  await using refused = await open({ HOME: t.testdir(), CI: '1' });
  await t.rejects((await refused.slots.signer.pick('default')).open({ form: 'default' }), {
    code: 'SIGNER_EPHEMERAL',
  });
});
