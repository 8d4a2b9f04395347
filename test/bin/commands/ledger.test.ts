import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { gitEvidence } from '../../../api/verify/git-evidence.ts';
import { formatTlogProof, parseTlogProof, verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { mirrorLedger } from '../../../attest/log/git-mirror.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { isConsistent, leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { readFrom } from '../../../attest/log/tiles.ts';
import { commands } from '../../../bin/command-table.ts';
import { dispatch } from '../../../bin/dispatch.ts';
import { openSink } from '../../../bin/terminal/print.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { storeRefs } from '../../../store/stores.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeWitness } from '../../attest/log/witness.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

// Not a `testdir`: tests of other files in this process have theirs.
const root = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
for (const home of ['home', 'stranger']) mkdirSync(join(root, home));
const cwd = makeRepository(join(root, 'repository')).dir;
const env = { HOME: join(root, 'home') };
const stranger = { HOME: join(root, 'stranger') };
const ledger = openUserLedger(join(cwd, '.git'), env, systemClock);
const directory = join(cwd, '.git/writ/ledger');

interface Answer {
  readonly code: number;
  readonly error?: { readonly code: string; readonly details?: Readonly<Record<string, unknown>> };
  // biome-ignore lint/suspicious/noExplicitAny: what JSON.parse answers
  readonly data: any;
}

/** Runs `writ --json ledger …`, whose data must have its schema. */
async function ask(words: readonly string[], home: Readonly<Record<string, string>> = env): Promise<Answer> {
  const { code, out } = await runLine(['--json', 'ledger', ...words], commands, { cwd, env: home });
  const { data, error } = JSON.parse(out);
  if (data !== undefined) t.strictSame(faultsOf(`ledger ${words[0]}`, data), [], `shape of ${words[0]}`);
  return { code, data, error };
}

t.test('every ledger command reports a missing ledger and creates none', async (t) => {
  for (const words of [
    ['show'],
    ['prove', '0'],
    ['consistency', '0', '0'],
    ['export-trusted-root'],
    ['serve'],
    ['audit', '.'],
  ]) {
    t.match(await ask(words), { code: 3, error: { code: 'LEDGER_MISSING' } }, words.join(' '));
  }
  t.equal(await ledger.head(), undefined);
});

t.test('an empty log shows its head and cannot pass an audit', async (t) => {
  const vkey = await ledger.vkey();
  t.match(await ask(['show']), { code: 0, data: { size: 0, vkey } });
  t.match(await ask(['audit', directory]), { code: 3, error: { code: 'VERIFY_NOTHING' } });
  t.match(await ask(['prove', '0']), { code: 1, error: { code: 'LOG_FAILED' } });
});

t.test('`show`, `prove` and `consistency` print data that can be verified independently', async (t) => {
  await ledger.appendAll(Array.from({ length: 300 }, (_, n) => Buffer.from(`entry ${n}`)));
  const { data } = await ask(['show']);
  const head = verifyCheckpoint(data.checkpoint, [parseVkey(data.vkey)]);
  t.match(data, { size: 300, origin: head.origin, root_hash: head.root.toString('hex') });

  const { code, out } = await runLine(['ledger', 'prove', '299'], commands, { cwd, env });
  t.equal(code, 0);
  const proof = parseTlogProof(Buffer.from(out));
  const signed = verifyCheckpoint(proof.checkpoint, [parseVkey(data.vkey)]);
  const reached = rootFromInclusion(
    proof.index,
    signed.size,
    leafHash(proof.body ?? Buffer.alloc(0)),
    proof.hashes,
  );
  t.ok(reached?.equals(signed.root));
  t.equal(proof.body?.toString(), 'entry 299');
  const written = await ask(['prove', '299', '-o', '../entry.tlog-proof']);
  t.equal(readFileSync(join(root, 'entry.tlog-proof'), 'utf8'), out);
  t.equal(written.data.path, join(root, 'entry.tlog-proof'));
  t.match(await ask(['prove', '299', '-o', '../entry.tlog-proof']), {
    code: 129,
    error: { code: 'OUTPUT_EXISTS' },
  });

  const step = (await ask(['consistency', '7', '256'])).data;
  const at = (size: number, hex: string) => ({ size, root: Buffer.from(hex, 'hex') });
  const hashes = step.hashes.map((hash: string) => Buffer.from(hash, 'hex'));
  t.ok(isConsistent(at(7, step.from_root), at(256, step.to_root), hashes));
  t.match(await ask(['consistency', '0', '300']), { code: 0, data: { remembered: [0, 300].slice(1) } });
  for (const words of [
    ['consistency', '8', '7'],
    ['consistency', '1', '301'],
    ['prove', '300'],
  ])
    t.match(await ask(words), { code: 1, error: { code: 'LOG_FAILED' } }, words.join(' '));
  for (const words of [
    ['prove', '-1'],
    ['prove', '01'],
    ['prove', '1e2'],
    ['consistency', '1', 'x'],
    ['prove', '9007199254740993'],
  ])
    t.equal((await ask(words)).code, 129, words.join(' '));
});

t.test('`consistency` refuses a log that differs from the checkpoint the user saw', async (t) => {
  const folder = join(env.HOME, '.config/writ/trust/checkpoints');
  const { origin, source, keyId } = (await ledger.head()) ?? { origin: '', source: '', keyId: Buffer.of() };
  const { sha256Hex } = await import('../../../core/base/canonical.ts');
  const seen = join(folder, sha256Hex(`${origin}\n${keyId.toString('hex')}`), '10');
  writeFileSync(seen, source.replace('\n300\n', '\n10\n'));
  t.match(await ask(['consistency', '10', '300']), {
    code: 1,
    error: { code: 'VERIFY_REFUTED', details: { reason: 'forked' } },
  });
  rmSync(seen);
});

t.test('an audit of a third-party directory needs a trusted key', async (t) => {
  const vkey = await ledger.vkey();
  t.match(await ask(['audit', directory]), { code: 0, data: { entries: 300, continues_from: 300 } });
  t.match(await ask(['audit', directory], stranger), {
    code: 3,
    error: { code: 'VERIFY_NOTHING', details: { code: 'untrusted-signer' } },
  });
  const other = await openUserLedger(join(root, 'elsewhere'), stranger, systemClock).vkey();
  t.match(await ask(['audit', directory, '--vkey', other], stranger), {
    code: 1,
    error: { code: 'VERIFY_REFUTED', details: { reason: 'untrusted-log' } },
  });
  t.match(await ask(['audit', directory, '--vkey', 'nonsense+0'], stranger), {
    code: 129,
    error: { code: 'ANCHOR_UNUSABLE' },
  });
  const first = await ask(['audit', directory, '--vkey', vkey], stranger);
  t.match(first, { code: 0, data: { entries: 300, continues_from: null, vkey } });
  writeFileSync(join(root, 'log.vkey'), `${vkey}\n`);
  const again = await ask(['audit', directory, '--vkey', '../log.vkey'], stranger);
  t.match(again, { code: 0, data: { continues_from: 300 } });
});

t.test('an audit detects every kind of damage in a ledger directory', async (t) => {
  const zeros = (path: string) => writeFileSync(path, Buffer.alloc(readFileSync(path).length));
  const cut = (path: string, by: number) => writeFileSync(path, readFileSync(path).subarray(0, -by));
  const swap = (a: string, b: string) => {
    const [left, right] = [readFileSync(a), readFileSync(b)];
    writeFileSync(a, right);
    writeFileSync(b, left);
  };
  const old = readFileSync(join(directory, 'checkpoint'), 'utf8');
  await ledger.append(Buffer.from('one more'));
  const damage: Readonly<Record<string, (d: string) => void>> = {
    'a truncated tile': (d) => cut(join(d, 'tile/0/000'), 32),
    'a tile cut inside a hash': (d) => cut(join(d, 'tile/0/001.p/45'), 1),
    'an empty tile': (d) => writeFileSync(join(d, 'tile/1/000.p/1'), ''),
    'a tile of zeros': (d) => zeros(join(d, 'tile/0/000')),
    'a tile of zeros above': (d) => zeros(join(d, 'tile/1/000.p/1')),
    'entries of zeros': (d) => zeros(join(d, 'tile/entries/000')),
    'swapped bundles': (d) => swap(join(d, 'tile/entries/000'), join(d, 'tile/entries/001.p/45')),
    'a tile for a bundle': (d) => swap(join(d, 'tile/0/000'), join(d, 'tile/entries/000')),
    'a length prefix too long': (d) => {
      const path = join(d, 'tile/entries/000');
      const bytes = readFileSync(path);
      bytes.writeUInt16BE(65_535, 0);
      writeFileSync(path, bytes);
    },
    'a length prefix too short': (d) => {
      const path = join(d, 'tile/entries/000');
      const bytes = readFileSync(path);
      bytes.writeUInt16BE(1, 0);
      writeFileSync(path, bytes);
    },
    'an entry more than the checkpoint has': (d) => {
      const path = join(d, 'tile/entries/001.p/45');
      writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('\0\u0001x')]));
    },
    'a half entry at the end': (d) => cut(join(d, 'tile/entries/001.p/45'), 3),
    'an entry rewritten with its hash': (d) => {
      const entries = join(d, 'tile/entries/001.p/45');
      const tile = join(d, 'tile/0/001.p/45');
      const bytes = readFileSync(entries);
      bytes.write('One more', bytes.length - 8);
      writeFileSync(entries, bytes);
      writeFileSync(
        tile,
        Buffer.concat([readFileSync(tile).subarray(0, -32), leafHash(Buffer.from('One more'))]),
      );
    },
    'a directory for a tile': (d) => {
      rmSync(join(d, 'tile/0/000'));
      mkdirSync(join(d, 'tile/0/000'));
    },
    'a checkpoint of another size': (d) => writeFileSync(join(d, 'checkpoint'), old),
  };
  for (const [name, harm] of Object.entries(damage)) {
    const copy = join(t.testdir(), 'copy');
    cpSync(directory, copy, { recursive: true });
    t.equal((await ask(['audit', copy])).code, 0, `${name}: whole before`);
    harm(copy);
    const { code, error } = await ask(['audit', copy]);
    t.match(
      error,
      { code: name.startsWith('a checkpoint') ? /LEDGER_CORRUPT|VERIFY_REFUTED/ : 'LEDGER_CORRUPT' },
      name,
    );
    t.ok(code === 128 || code === 1, name);
  }
  const copy = join(t.testdir(), 'copy');
  cpSync(directory, copy, { recursive: true });
  writeFileSync(join(copy, 'checkpoint'), old.replace('\n300\n', '\n299\n'));
  t.match(await ask(['audit', copy]), {
    code: 1,
    error: { code: 'VERIFY_REFUTED', details: { reason: 'bad-signature' } },
  });
});

t.test('an audit refuses a log that shrank since it was last seen', async (t) => {
  const copy = join(t.testdir(), 'copy');
  cpSync(directory, copy, { recursive: true });
  await ledger.append(Buffer.from('seen since'));
  t.match(await ask(['audit', copy]), {
    code: 1,
    error: { code: 'VERIFY_REFUTED', details: { reason: 'stale' } },
  });
});

t.test('an audit with a policy requires the witness quorum', async (t) => {
  const [one, two] = [makeWitness('w1.example'), makeWitness('w2.example')];
  const policy = join(root, 'policy');
  const lines = [
    `witness 1 ${one.key.vkey}`,
    `witness 2 ${two.key.vkey}`,
    'group both all 1 2',
    'quorum both',
  ];
  writeFileSync(policy, `${lines.join('\n')}\n`);
  const short = { code: 1, error: { code: 'VERIFY_REFUTED', details: { reason: 'no-quorum' } } };
  t.match(await ask(['audit', directory, '--policy', policy]), short);
  const { source } = (await ledger.head()) ?? { source: '' };
  await ledger.cosign(source + one.line(source), [one.key]);
  t.match(await ask(['audit', directory, '--policy', policy]), short, 'one of two');
  await ledger.cosign(source + two.line(source), [two.key]);
  t.match(await ask(['audit', directory, '--policy', policy]), {
    code: 0,
    data: { cosigned_by: ['w1.example', 'w2.example'] },
  });
  t.match(await ask(['show']), {
    data: { signatures: [{}, { name: 'w1.example' }, { name: 'w2.example' }] },
  });
  writeFileSync(policy, 'quorum\n');
  t.match(await ask(['audit', directory, '--policy', policy]), {
    code: 1,
    error: { code: 'ATTESTATION_MALFORMED' },
  });
  t.equal((await ask(['audit', directory, '--policy', join(root, 'none')])).code, 129);
});

t.test('`export-trusted-root` names the log, and `serve` answers until it is interrupted', async (t) => {
  const { data } = await ask(['export-trusted-root', '-o', '../trusted_root.json']);
  t.strictSame(JSON.parse(readFileSync(join(root, 'trusted_root.json'), 'utf8')), data.trusted_root);
  t.equal(data.trusted_root.tlogs[0].logId.keyId, Buffer.from(data.log_id, 'hex').toString('base64'));

  const stop = new AbortController();
  const [out, err] = [new PassThrough(), new PassThrough()];
  const ended = dispatch(['--json', 'ledger', 'serve'], commands, {
    out: openSink(out),
    err: openSink(err),
    outTerminal: {},
    errTerminal: {},
    stdin: Readable.from([]),
    cwd,
    env,
    signal: stop.signal,
  });
  const [note] = await once(err, 'data');
  const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(note))?.[0] ?? '';
  const answer = await fetch(`${url}checkpoint`);
  t.equal(await answer.text(), (await ledger.head())?.source);
  stop.abort(new WritError('RUN_INTERRUPTED'));
  t.equal(await ended, 0);
  const served = JSON.parse(String(out.read()));
  t.match(served, { ok: true, data: { url, requests: 1 } });
  t.strictSame(faultsOf('ledger serve', served.data), []);
  await t.rejects(fetch(`${url}checkpoint`), 'nobody listens any more');
  t.equal((await ask(['serve', '--port', '65536'])).code, 129);
});

t.test('verification in a clone reads the log of the proof from git, not another local ledger', async (t) => {
  const place = makeRepository(join(t.testdir(), 'clone'));
  const commit = place.commit({ a: '1' });
  const repository = await openRepository(place.dir);
  const store = {
    objects: openGitNativeStore(repository, { clock: systemClock }),
    refs: storeRefs('refs/ai/'),
  };
  const proof = Buffer.from(formatTlogProof(await ledger.prove(0)));
  await store.objects.writeTree(store.refs.run('run-1'), {
    message: 'a run',
    files: [['transparency-proof.tlog-proof', proof]],
    keepExisting: true,
  });
  const checkpointOf = async (): Promise<string | undefined> => {
    const evidence = await gitEvidence(repository, store, 'run-1', commit);
    const bytes = await evidence?.readLedger?.('checkpoint');
    return bytes && Buffer.from(bytes).toString();
  };
  const own = openUserLedger(join(place.dir, '.git'), stranger, systemClock);
  t.equal(await checkpointOf(), undefined, 'nothing here at all');
  await own.append(Buffer.from('another log'));
  t.equal(await checkpointOf(), (await own.head())?.source, 'another log only');
  const head = await ledger.head();
  if (head === undefined) throw new Error('no head');
  await mirrorLedger(repository, systemClock, readFrom(directory), head);
  t.equal(await checkpointOf(), head.source);
  const both = openUserLedger(join(place.dir, '.git'), stranger, systemClock, repository);
  await both.append(Buffer.from('mirrored beside it'));
  t.equal(await checkpointOf(), head.source, 'each log has a mirror of its own');
});
