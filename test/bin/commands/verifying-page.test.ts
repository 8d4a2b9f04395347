import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import {
  artifact,
  bundleBy,
  envelopeBy,
  identity,
  issuer,
  type Loose,
  makeAuthorities,
  signerKey,
  statement,
} from '../../attest/verify/strangers.ts';
import { asksForTwo } from '../asks-for-two.ts';
import { runLine } from '../host.ts';

/** A run in a sandbox, an approval and its seal on a busy machine. */
t.setTimeout(120_000);

const page = readFileSync(new URL('../../../docs/reference/verifying.md', import.meta.url), 'utf8');

/** The commands of the page, what they print there, and the exit code that is told where it is not 0. */
const steps = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.split(/^(?=\$ )/m).map((step) => {
    const [first = '', ...lines] = step.trimEnd().split('\n');
    const match = /^\$ writ (.*?)(?: +# exit (\d+))?$/.exec(first);
    return { line: match?.[1] ?? first, code: Number(match?.[2] ?? 0), expected: lines };
  }),
);

/** `…` on a line stands for anything on it, alone for any number of lines. */
function formOf(expected: readonly string[]): RegExp {
  const quote = (text: string) =>
    text
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replaceAll('…', '.*')
      .replace(/\d+ (of \d+ checks|evidence digests)/, (text) => text.replaceAll(/\d+/g, '\\d+'));
  return new RegExp(
    `^${expected.map((line) => (line.trim() === '…' ? '(?:.*\\n)*' : `${quote(line)} *\\n`)).join('')}$`,
  );
}

const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-page-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const [repo, home, fresh] = [join(root, 'repo'), join(root, 'home'), join(root, 'fresh')];
const git = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Dana',
  GIT_AUTHOR_EMAIL: 'dana@example.org',
  GIT_COMMITTER_NAME: 'Dana',
  GIT_COMMITTER_EMAIL: 'dana@example.org',
};
const env = { ...git, PATH: process.env.PATH ?? '', HOME: home };

async function author(...argv: string[]): Promise<Loose> {
  const { code, out } = await runLine(['--json', ...argv], commands, { cwd: repo, env });
  return { code, ...JSON.parse(out) };
}

/** A change that one person approved and the author’s machine sealed; then the files that the page starts from. */
async function prepare(): Promise<void> {
  mkdirSync(join(repo, '.writ'), { recursive: true });
  mkdirSync(home);
  const ana = makeKey(root, 'ana');
  const people = `ana@example.org namespaces="writ-approval@v1" ${publicOf(ana)}\n`;
  writeFileSync(join(repo, '.writ', 'allowed_signers'), people);
  writeFileSync(join(repo, 'a.txt'), 'one\n');
  const run = (...args: string[]) => execFileSync('git', args, { cwd: repo, env });
  run('init', '-q', '-b', 'main');
  // The author of the change, also where the user of this machine has no git identity.
  run('config', 'user.name', 'Dana');
  run('config', 'user.email', 'dana@example.org');
  run('add', '-A');
  run('commit', '-qm', 'base');
  const spec = sampleSpecWith({
    metadata: { target: { repo: { type: 'local', locator: repo } } },
    risk: { level: 'medium', humanInLoop: { required: true, minApprovers: 1 } },
    provenance: { transparencyLog: { mode: 'internal-ledger' } },
    ...asksForTwo,
  });
  mkdirSync(fresh);
  writeFileSync(join(fresh, 'spec.json'), JSON.stringify(spec));
  writeFileSync(join(root, 'good.patch'), '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n');
  const waiting = await author('run', join(fresh, 'spec.json'), '--patch', '../good.patch');
  t.equal(waiting.code, 4);
  const id: string = waiting.data.run_id;
  const reportOf = async (name: string): Promise<string> => {
    t.equal((await author('report', id, '--html', join(root, name))).code, 0);
    return readFileSync(join(root, name), 'utf8');
  };
  const [card] = (await reportOf('waiting.html')).split('<nav');
  t.match(card, new RegExp(`>Waiting<.*writ approve ${id}.*writ resume ${id}`, 's'));
  t.equal((await author('approve', id, '--key', ana)).code, 0);
  t.equal((await author('resume', id)).code, 0);
  const sealed = await reportOf('sealed.html');
  t.match(sealed, /1 person approved\..*ana@example\.org.*SHA256:.*approved.*counts/s);
  t.match(sealed, /writ, the seal.*key [0-9a-f]{64}.*signature verified.*yes: \d+ of \d+ checks/s);
  const whole = await author('report', id, '--bundle', join(fresh, 'evidence.json'));
  t.match([whole.code, whole.data.warnings], [0, undefined]);
  const ledger = join(repo, '.git', 'writ', 'ledger');
  renameSync(ledger, `${ledger}-aside`);
  const bare = await author('report', id, '--bundle', join(root, 'without-log.json'));
  t.match(bare, { code: 0, data: { warnings: [{ code: 'LOG_NOT_EXPORTED', message: /does not travel/ }] } });
  renameSync(`${ledger}-aside`, ledger);
  const { data: log } = await author('ledger', 'show');
  const keys = join(home, '.config', 'writ', 'keys');
  const [pem = ''] = readdirSync(keys).filter((name) => /^signing-.*\.pub\.pem$/.test(name));
  cpSync(join(keys, pem), join(fresh, 'signer.pem'));
  writeFileSync(join(fresh, 'log.vkey'), log.vkey);
  writeFileSync(join(fresh, 'people'), people);
  cpSync(repo, join(fresh, 'repo'), { recursive: true });
  // A clone has no ledger beside it.
  rmSync(join(fresh, 'repo', '.git', 'writ'), { recursive: true, force: true });
  const [bundle, proof] = ['provenance.sigstore.json', 'transparency-proof.tlog-proof'];
  for (const name of [bundle, proof])
    writeFileSync(join(fresh, name), run('show', `refs/ai/runs/${id}:${name}`));

  const { root: trusted, sign } = await makeAuthorities();
  writeFileSync(join(fresh, 'trusted_root.json'), JSON.stringify(trusted));
  writeFileSync(join(fresh, 'new_root.json'), JSON.stringify(withNewLog(trusted)));
  writeFileSync(join(fresh, 'app.tgz'), artifact);
  writeFileSync(join(fresh, 'app.sigstore.json'), JSON.stringify(await sign(statement())));
  const lines = [envelopeBy(signerKey, statement()), bundleBy(statement())];
  writeFileSync(join(fresh, 'app.intoto.jsonl'), lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const { createPublicKey } = await import('node:crypto');
  writeFileSync(
    join(fresh, 'vendor.pem'),
    createPublicKey(signerKey).export({ type: 'spki', format: 'pem' }),
  );
  t.match(page, identity);
  t.match(page, issuer);
}

/** A copy of a trusted root that lists one more transparency log. */
function withNewLog(trusted: Loose): Loose {
  const copy = structuredClone(trusted);
  const { publicKey } = generateKeyPairSync('ed25519');
  const { name, keyId } = ledgerKeyFor('log2026-1.rekor.example.org', publicKey);
  copy.tlogs.push({
    baseUrl: `https://${name}`,
    hashAlgorithm: 'SHA2_256',
    publicKey: {
      rawBytes: toSpki(publicKey).toString('base64'),
      keyDetails: 'PKIX_ED25519',
      validFor: { start: '2026-01-01T00:00:00Z' },
    },
    logId: { keyId: keyId.toString('base64') },
  });
  return copy;
}

const { code: healthy } = await runLine(['doctor'], commands, { cwd: root, env });
const skip =
  withoutSshKeygen ||
  (healthy === 0 || healthy === 128 ? false : 'writ doctor: no run works on this machine');

t.test(
  'every command of docs/reference/verifying.md prints what the page says on a fresh machine',
  { skip },
  async (t) => {
    await prepare();
    const theirs = { ...git, PATH: process.env.PATH ?? '', HOME: join(root, 'their-home') };
    mkdirSync(theirs.HOME);
    t.ok(steps.length >= 9, `${steps.length} commands`);
    for (const { line, code, expected } of steps) {
      const { code: found, out, err } = await runLine(line.split(' '), commands, { cwd: fresh, env: theirs });
      const printed = `${out}${err}`;
      if (process.env.WRIT_SHOW_PAGE === '1')
        process.stderr.write(`$ writ ${line}   # exit ${found}\n${printed}\n`);
      t.equal(found, code, line);
      t.match(printed.replace(/[ \t]+$/gm, ''), formOf(expected), line);
    }
  },
);
