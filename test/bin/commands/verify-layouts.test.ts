import { createHash, createPublicKey, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { topMember } from '../../../api/verify/split-file.ts';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { commands } from '../../../bin/command-table.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { makeMachine, removeMachines, sealRun, toSource } from '../../attest/verify/sealed-run.ts';
import {
  artifact,
  bundleBy,
  envelopeBy,
  type Loose,
  signerKey,
  statement,
} from '../../attest/verify/strangers.ts';
import { long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

t.teardown(removeMachines);
const author = makeMachine();
const sealed = await sealRun(author, { artifactDays: 30 });
const here = makeMachine();
mkdirSync(here.home, { recursive: true });
const env = { PATH: process.env.PATH ?? '', HOME: here.home };
const evidence = await formatEvidenceFile('run-1', toSource(sealed));
const write = (name: string, content: string | Buffer) => writeFileSync(join(here.root, name), content);
write('signer.pem', (await openUserSigningKey({ HOME: author.home })).publicKeyPem);
write('vendor.pem', String(createPublicKey(signerKey).export({ format: 'pem', type: 'spki' })));
write('app.tgz', artifact);

async function verify(...argv: string[]): Promise<Loose> {
  const { code, out } = await runLine(['--json', 'verify', ...argv], commands, { cwd: here.root, env });
  return { code, ...JSON.parse(out) };
}

/** As `jq -S` would write it: members sorted at every level. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

t.test('evidence still verifies after a JSON tool sorted or reformatted it', async (t) => {
  const parsed = JSON.parse(evidence);
  for (const [name, text] of Object.entries({
    sorted: JSON.stringify(sorted(parsed)),
    'sorted and indented': JSON.stringify(sorted(parsed), null, 2),
    'indented by tabs': JSON.stringify(parsed, null, '\t'),
    'behind white space': `\n\n  ${' '.repeat(400)}${evidence}`,
    'its media type escaped': JSON.stringify(parsed).replace('"mediaType"', '"media\\u0054ype"'),
  })) {
    write('evidence.json', text);
    const { code, data } = await verify('evidence.json', '--key', 'signer.pem');
    t.match([code, data.targets[0].kind], [0, 'evidence'], name);
  }
  const changed = structuredClone(parsed);
  changed.run[0].data = Buffer.from('{}').toString('base64');
  write('evidence.json', JSON.stringify(sorted(changed), null, 2));
  t.equal(
    (await verify('evidence.json', '--key', 'signer.pem')).code,
    1,
    'and changed evidence is changed evidence',
  );
});

t.test('evidence verifies inside a list or among JSON lines', async (t) => {
  const asked = ['--key', 'signer.pem', '--key', 'vendor.pem', '--artifact', 'patchset.diff'];
  write('patchset.diff', sealed.content.get('patchset.diff') ?? '');
  const patch = [{ name: 'p', digest: { sha256: sha256Hex(sealed.content.get('patchset.diff') ?? '') } }];
  const bundle = JSON.stringify(bundleBy(statement({ subject: patch })));
  const whole = JSON.parse(evidence);
  const changed = structuredClone(whole);
  changed.run[0].data = Buffer.from('{}').toString('base64');
  for (const [name, text, code] of [
    ['list.json', `[${evidence},\n${bundle}]`, 0],
    ['attestations.json', JSON.stringify({ attestations: [JSON.parse(bundle), whole] }), 0],
    ['lines.json', `${evidence.trim()}\n${bundle}\n`, 0],
    ['lines.jsonl', `${bundle}\n${evidence.trim()}\n`, 0],
    ['one.jsonl', evidence, 0],
    ['bad-list.json', JSON.stringify([whole, changed]), 1],
    ['bad-lines.json', `${evidence.trim()}\n${JSON.stringify(changed)}\n`, 1],
  ] as const) {
    write(name, text);
    const found = await verify(name, ...asked);
    t.equal(found.code, code, `${name}: ${found.error?.message}`);
    const kinds = found.data.targets.map(({ kind }: Loose) => kind);
    t.ok(kinds.includes('evidence'), `${name}: ${kinds}`);
  }
});

t.test('an artifact given twice counts once', async (t) => {
  const digest = createHash('sha256').update(artifact).digest();
  const sha512 = createHash('sha512').update(artifact).digest('hex');
  write('copy.tgz', artifact);
  write('other.tgz', 'another');
  write(
    'message.json',
    JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: '' }, tlogEntries: [] },
      messageSignature: {
        messageDigest: { algorithm: 1, digest: digest.toString('base64') },
        signature: sign('sha256', artifact, signerKey).toString('base64'),
      },
    }),
  );
  const hex = `sha256:${digest.toString('hex')}`;
  for (const [given, code] of [
    [['app.tgz'], 0],
    [['app.tgz', 'app.tgz'], 0],
    [['app.tgz', 'copy.tgz', hex], 0],
    [[hex, hex], 0],
    [[hex, 'app.tgz', `sha512:${sha512}`], 0],
    [['app.tgz', 'other.tgz'], 1],
    [[hex, 'other.tgz'], 1],
  ] as const) {
    const artifacts = given.flatMap((one) => ['--artifact', one]);
    t.equal((await verify('message.json', '--key', 'vendor.pem', ...artifacts)).code, code, given.join(' '));
  }
});

t.test('the type of a document comes from its top-level member only', async (t) => {
  const type = 'application/vnd.writ.evidence.v1+json';
  const cases: Record<string, [string, string | undefined]> = {
    first: [`{"mediaType":"${type}","a":1}`, type],
    last: [
      `{"a":{"mediaType":"x"},"b":["mediaType","x"],"c":"\\"mediaType\\":","mediaType" : "${type}"}`,
      type,
    ],
    'only within': [`{"a":{"mediaType":"${type}"}}`, undefined],
    'as a value': [`{"a":"mediaType","b":"${type}"}`, undefined],
    'another kind of value': [`{"mediaType":{"x":"${type}"}}`, undefined],
    'an open text': [`{"mediaType":"${type}`, undefined],
    nothing: ['', undefined],
  };
  for (const [name, [text, expected]] of Object.entries(cases))
    t.equal(topMember(Buffer.from(text), 'mediaType'), expected, name);
  write('trap.json', JSON.stringify({ ...bundleBy(statement()), note: evidence }));
  const { code, data } = await verify('trap.json', '--key', 'vendor.pem', '--artifact', 'app.tgz');
  t.match([code, data.targets[0].kind], [0, 'attestation'], 'a bundle that holds the words is a bundle');
});

long('each bundle of a registry list is a target, and one bad bundle fails verification', async (t) => {
  const [good, other] = [bundleBy(statement()), envelopeBy(signerKey, statement())];
  const asked = ['--key', 'vendor.pem', '--artifact', 'app.tgz'];
  write(
    'npm.json',
    JSON.stringify({ attestations: [{ predicateType: 'x', bundle: good }, { bundle: other }] }),
  );
  const npm = await verify('npm.json', ...asked);
  t.equal(npm.code, 0);
  t.same(
    npm.data.targets.map(({ target }: Loose) => target),
    ['npm.json:1', 'npm.json:2'],
  );
  write('list.json', JSON.stringify([good, other], null, 2));
  t.equal((await verify('list.json', ...asked)).code, 0);
  const forged = structuredClone(good);
  forged.dsseEnvelope.payload = Buffer.from(JSON.stringify(statement({ predicate: {} }))).toString('base64');
  write('one-bad.json', JSON.stringify({ attestations: [{ bundle: good }, { bundle: forged }] }));
  t.equal((await verify('one-bad.json', ...asked)).code, 1);
  write(
    'elsewhere.json',
    JSON.stringify({ attestations: [{ bundle: null, bundle_url: 'https://example.org/b' }] }),
  );
  const elsewhere = await verify('elsewhere.json', ...asked);
  t.match(elsewhere, { code: 3, error: { details: { code: 'unsupported' } } });
  for (const none of ['{"attestations":[]}', '[]']) {
    write('none.json', none);
    t.equal((await verify('none.json', ...asked)).code, 3, 'an empty list is nothing to verify');
  }
  const filler = Array.from({ length: 800 }, (_, n) => ({ name: `x${n}`, text: 'y'.repeat(100) }));
  write('late.json', JSON.stringify({ filler, attestations: [{ bundle: good }, { bundle: other }] }));
  const late = await verify('late.json', ...asked);
  t.equal(late.code, 0, 'a list that begins after much else');
  t.equal(late.data.targets.length, 2);
  for (const pypi of [
    { version: 1, attestation_bundles: [{ publisher: {}, attestations: [{}] }] },
    { version: 1, verification_material: {}, envelope: {} },
  ]) {
    write('pypi.json', JSON.stringify(pypi));
    t.match(await verify('pypi.json', ...asked), { code: 3, error: { details: { code: 'unsupported' } } });
  }
  write('both.json', JSON.stringify({ attestations: [{ bundle: good }], ...forged }));
  t.equal((await verify('both.json', ...asked)).code, 1, 'a bundle is not read as the list that hides in it');
});
