import { createPublicKey } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateKey, openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { commands } from '../../../bin/command-table.ts';
import { makeMachine, removeMachines, sealRun, toSource } from '../../attest/verify/sealed-run.ts';
import { artifact, bundleBy, type Loose, makeAuthorities, statement } from '../../attest/verify/strangers.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const sealed = await sealRun(machine);
const env = { PATH: process.env.PATH ?? '', HOME: machine.home };
const at = (name: string) => join(machine.root, name);
const put = (name: string, content: unknown) =>
  writeFileSync(
    at(name),
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  );

async function attest(...argv: string[]): Promise<Loose> {
  const { code, out } = await runLine(['--json', 'attest', ...argv], commands, { cwd: machine.root, env });
  const document = JSON.parse(out);
  if (document.data)
    t.strictSame(faultsOf(document.command, document.data), [], `${argv.join(' ')} has its shape`);
  return { code, ...document };
}

put('app.tgz', artifact);
put('statement.json', JSON.stringify(statement(), null, 2));

t.test('a statement is signed byte for byte and verifies elsewhere with the public key', async (t) => {
  const { code, data } = await attest('sign', 'statement.json', '-o', 'app.sigstore.json');
  t.equal(code, 0);
  const { keyId, publicKeyPem } = await openUserSigningKey({ HOME: machine.home });
  t.match(data, {
    key_id: keyId,
    predicate_type: 'https://slsa.dev/provenance/v1',
    path: at('app.sigstore.json'),
  });
  const bundle = JSON.parse(readFileSync(at('app.sigstore.json'), 'utf8'));
  t.same(Buffer.from(bundle.dsseEnvelope.payload, 'base64'), readFileSync(at('statement.json')));
  put('signer.pem', publicKeyPem);
  const line = ['verify', 'app.sigstore.json', '--artifact', 'app.tgz', '--key', 'signer.pem'];
  t.equal((await runLine(line, commands, { cwd: machine.root, env: { HOME: makeMachine().home } })).code, 0);

  const plain = await runLine(['attest', 'sign', 'statement.json'], commands, { cwd: machine.root, env });
  t.equal(JSON.parse(plain.out).mediaType, bundle.mediaType, 'without `-o` the bundle is what is printed');
  t.match(await attest('sign', 'statement.json', '-o', 'app.sigstore.json'), {
    code: 129,
    error: { code: 'OUTPUT_EXISTS' },
  });
});

t.test('`--key` selects another signing key', async (t) => {
  const key = generateKey('ecdsa-p256-sha256');
  writeFileSync(at('other.pem'), key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const { data } = await attest('sign', 'statement.json', '--key', 'other.pem');
  t.match(data.bundle.verificationMaterial.publicKey.hint, data.key_id);
  t.not(data.key_id, (await openUserSigningKey({ HOME: machine.home })).keyId);
  t.ok(createPublicKey(key));
});

/** A verification summary, with changes to its predicate. */
const vsa = (changes: object) => ({
  predicateType: 'https://slsa.dev/verification_summary/v1',
  predicate: {
    verifier: { id: 'https://verifier.example/v1' },
    resourceUri: 'pkg:npm/app@1.0.0',
    policy: { uri: 'https://verifier.example/policy' },
    verificationResult: 'PASSED',
    verifiedLevels: ['SLSA_BUILD_LEVEL_2'],
    ...changes,
  },
});

t.test('a summary is signed if `writ verify` can read it, also with the result FAILED', async (t) => {
  for (const changes of [{}, { verificationResult: 'FAILED', verifiedLevels: ['FAILED'] }]) {
    put('vsa.json', statement(vsa(changes)));
    t.equal((await attest('sign', 'vsa.json')).code, 0);
  }
  let nested: unknown = 1695399063411111;
  for (let depth = 0; depth < 50; depth += 1) nested = { components: [nested] };
  put('sbom.json', statement({ predicateType: 'https://cyclonedx.org/bom', predicate: nested }));
  t.equal((await attest('sign', 'sbom.json')).code, 0, 'a nested SBOM');
});

t.test('an invalid statement is not signed, and no file is written', async (t) => {
  const cases: Record<string, unknown> = {
    'not JSON': 'hello',
    'another type': statement({ _type: 'https://in-toto.io/Statement/v0.1' }),
    'no subject': statement({ subject: [] }),
    'a subject without digest': statement({ subject: [{ name: 'x', digest: {} }] }),
    'a digest of another length': statement({ subject: [{ digest: { sha256: 'a'.repeat(63) } }] }),
    'no predicate type': statement({ predicateType: '' }),
    'a predicate type that is no URI': statement({ predicateType: 'provenance' }),
    'a predicate that is no object': statement({ predicate: [] }),
    'a summary without a policy': statement(vsa({ policy: undefined })),
    'a summary whose level is misspelled': statement(vsa({ verifiedLevels: ['slsa_build_level_3'] })),
    'a summary that binds nothing': statement(vsa({ resourceUri: 'app' })),
    'a provenance without a builder': statement({ predicate: { buildDefinition: {}, runDetails: {} } }),
    'a predicate nested too deep': JSON.stringify(statement()).replace(
      '"externalParameters":{}',
      `"externalParameters":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
    ),
    'a member too many': statement({ predicat: {} }),
    'a member twice': JSON.stringify(statement()).replace('{', '{"_type":"https://in-toto.io/Statement/v1",'),
  };
  for (const [name, content] of Object.entries(cases)) {
    put('bad.json', content);
    t.match(
      await attest('sign', 'bad.json', '-o', 'never.json'),
      { code: 1, error: { code: 'ATTESTATION_MALFORMED' } },
      name,
    );
    t.equal(existsSync(at('never.json')), false);
  }
});

t.test('`attest show` prints claims and never calls them verified', async (t) => {
  put('forged.json', bundleBy(statement(), {}, generateKey('ecdsa-p256-sha256')));
  const { code, data } = await attest('show', 'forged.json');
  t.equal(code, 0);
  t.match(data, {
    verified: false,
    attestations: [
      {
        predicate_type: 'https://slsa.dev/provenance/v1',
        subjects: [{ name: 'app.tgz' }],
        predicate: { runDetails: {} },
      },
    ],
  });
  const { out } = await runLine(['attest', 'show', 'forged.json'], commands, { cwd: machine.root, env });
  t.match(out, /^https:\/\/slsa.dev\/provenance\/v1 {2}unverified\n/);
  t.match(out, 'writ verify forged.json');

  const { sign } = await makeAuthorities();
  put('cert.json', await sign(statement(), { name: 'ana@example.org' }));
  t.match((await attest('show', 'cert.json')).data.attestations[0], {
    signer: { identity: 'ana@example.org', issuer: 'https://accounts.example.org' },
    logged: [{ kind: 'dsse 0.0.1' }],
  });
  put('run.tlog-proof', sealed.run.get('transparency-proof.tlog-proof'));
  t.match((await attest('show', 'run.tlog-proof')).data.attestations[0], {
    logged: [{ index: 0, size: 1 }],
    signed_digest: /^sha256:/,
  });
  put('evidence.json', await formatEvidenceFile('run-1', toSource(sealed)));
  const shown = (await attest('show', 'evidence.json')).data.attestations;
  t.match(shown[0], { kind: 'evidence', run_id: 'run-1' });
  t.ok(shown.some(({ file }: Loose) => file === 'evidence-manifest.sigstore.json'));
});

t.test('`attest show` reports an unreadable part and still shows the rest', async (t) => {
  put('two.jsonl', `${JSON.stringify(bundleBy(statement()))}\n{}\n`);
  const { code, data } = await attest('show', 'two.jsonl');
  t.equal(code, 1);
  t.match(data.attestations, [
    { line: 1, predicate_type: String },
    { line: 2, problem: String },
  ]);
  put('nothing.json', '');
  t.equal((await attest('show', 'nothing.json')).code, 1);
  put('other.json', bundleBy(Buffer.from('hello')));
  t.match((await attest('show', 'other.json')).data.attestations[0], {
    problem: String,
    payload_type: String,
  });
});

t.test('untrusted text cannot write control sequences to the terminal', async (t) => {
  put(
    'hostile.json',
    bundleBy(statement({ subject: [{ name: '\u001b[2Jx', digest: { sha256: 'a'.repeat(64) } }] })),
  );
  const { out } = await runLine(['attest', 'show', 'hostile.json'], commands, { cwd: machine.root, env });
  t.notMatch(out, '\u001b');
});
