import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const inputs = join(import.meta.dirname, '../../../fixtures/verify');
const home = mkdtempSync(join(tmpdir(), 'writ-documents-'));
t.teardown(() => rmSync(home, { recursive: true }));
const env = { PATH: process.env.PATH ?? '', HOME: home, GIT_CEILING_DIRECTORIES: inputs };

const key = ['--key', 'material/vendor.pub.pem'];
const artifact = ['--artifact', 'material/app.tgz'];
const certificate = [
  '--trusted-root',
  'registry-file/root.json',
  '--identity',
  'https://github.com/builders/generator/.github/workflows/generic.yml@refs/tags/v2.0.0',
  '--issuer',
  'https://token.actions.githubusercontent.com',
];
const provenance = ['--type', 'https://slsa.dev/provenance/v1'];

async function verify(...argv: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, out } = await runLine(['--json', 'verify', ...argv], commands, { cwd: inputs, env });
  const document = JSON.parse(out);
  if (document.data) t.strictSame(faultsOf('verify', document.data), [], `${argv.join(' ')} has its shape`);
  return { code, ...document };
}

const verdicts = ({ data }: ReturnType<typeof JSON.parse>) =>
  data.targets.map(({ target, verified }: { target: string; verified: boolean }) => [target, verified]);

t.test('selects the one attestation of 16 that is about the artifact', async (t) => {
  const found = await verify('several-lines/16.jsonl', ...key, ...artifact);
  t.equal(found.code, 0);
  t.same(verdicts(found), [['several-lines/16.jsonl:12', true]]);
  t.equal(found.data.skipped.length, 15);
  t.match(found.data.skipped[0], {
    target: 'several-lines/16.jsonl:1',
    code: 'wrong-subject',
    found: [/^f0 sha256:/],
  });
  const other = await verify('several-lines/16.jsonl', ...key, '--artifact', 'material/other.tgz');
  t.match(other, { code: 1, error: { details: { code: 'wrong-subject' } } }, 'none is about it');
  t.equal(other.data.targets.length, 16, 'each is shown');
  const both = [...artifact, '--artifact', 'material/other.tgz'];
  t.equal(
    (await verify('several-lines/16.jsonl', ...key, ...both)).code,
    1,
    'one artifact is attested by none',
  );
  const { out } = await runLine(['verify', 'several-lines/16.jsonl', ...key, ...artifact], commands, {
    cwd: inputs,
    env,
  });
  t.match(out, /^verified {2}several-lines\/16\.jsonl:12 /);
  t.match(out, /\nnot selected {2}several-lines\/16\.jsonl:1 {2}wrong-subject {2}found f0 sha256:/);
});

long(
  'reads lines with blank lines, CRLF, a byte order mark, or one document over several lines',
  async (t) => {
    for (const name of ['blank.jsonl', 'crlf.jsonl', 'nl.jsonl', 'nlnl.jsonl', 'bom.jsonl', 'pretty.json'])
      t.match(
        await verify(`several-lines/${name}`, ...key, ...artifact),
        { code: 0, data: { verified: true } },
        name,
      );
    t.match(await verify('several-lines/empty.jsonl', ...key, ...artifact), {
      code: 3,
      data: { verified: false, ran: 0 },
      error: { details: { reason: 'the file is empty' } },
    });
  },
);

t.test('verifies both halves of a registry’s file in one call, by key and by certificate', async (t) => {
  const file = ['registry-file/attestations.json', ...artifact];
  const both = await verify(...file, ...key, ...certificate);
  t.equal(both.code, 0);
  t.same(verdicts(both), [
    ['registry-file/attestations.json:1', true],
    ['registry-file/attestations.json:2', true],
  ]);
  const byKey = await verify(...file, ...key);
  t.match(byKey, {
    code: 3,
    error: { details: { code: 'untrusted-signer' }, hints: [/--trusted-root/, /--type/] },
  });
  t.same(
    verdicts(byKey).map(([, verified]: [string, boolean]) => verified),
    [true, false],
  );
  const byName = await verify(...file, ...certificate);
  t.equal(byName.code, 3);
  t.same(
    verdicts(byName).map(([, verified]: [string, boolean]) => verified),
    [false, true],
  );
  t.equal((await verify(...file, ...certificate, ...provenance)).code, 0, 'the half that is selected');
  const publish = ['--type', 'https://docs.pypi.org/attestations/publish/v1'];
  t.equal((await verify(...file, ...key, ...publish)).code, 0);
});

t.test('a source is demanded of the half of a registry’s file that a certificate signs', async (t) => {
  const file = ['registry-file/attestations.json', ...artifact, ...key, ...certificate];
  const publish = ['--type', 'https://docs.pypi.org/attestations/publish/v1'];
  const demand = async (name: string, ...more: readonly string[]) => {
    const found = await verify(...file, '--source-repository', name, ...more);
    return [found.code, ...verdicts(found).map(([, verified]: [string, boolean]) => verified)];
  };
  t.same(await demand('https://github.com/good/app'), [0, true, true]);
  t.same(await demand('https://github.com/good/other'), [1, true, false]);
  t.same(await demand('https://github.com/good/app', ...publish), [3, false], 'a half without certificate');
});

t.test('selects by predicate type in a file with provenance and an SBOM', async (t) => {
  const file = ['provenance-and-sbom/attestation.jsonl', ...key, ...artifact];
  const selected = await verify(...file, ...provenance);
  t.equal(selected.code, 0);
  t.match(selected.data.skipped, [{ code: 'wrong-type', found: ['https://spdx.dev/Document/v2.3'] }]);
  t.equal((await verify(...file, '--type', 'https://spdx.dev/Document/v2.3')).code, 0);
  const [first = '', second = ''] = readFileSync(join(inputs, file[0] as string), 'utf8').split('\n');
  const path = join(home, 'spdx-first.jsonl');
  writeFileSync(path, `${second}\n${first.replace(/"sig":\s*"..../, '"sig":"AAAA')}\n`);
  t.match(
    await verify(path, ...key, ...artifact, ...provenance, '--type', 'https://spdx.dev/Document/v2.3'),
    { code: 3, error: { details: { check: 'signature' } } },
    'a predicate of a type that was asked for is not what is missing',
  );
  t.equal((await verify(...file, ...provenance, '--type', 'https://spdx.dev/Document/v2.3')).code, 0);
  const all = await verify(...file);
  t.match(all, { code: 3, error: { details: { code: 'not-judged' } } });
  t.same(
    verdicts(all).map(([, verified]: [string, boolean]) => verified),
    [true, false],
    'both are evaluated',
  );
  t.match(await verify(...file, '--type', 'https://cyclonedx.org/bom'), {
    code: 1,
    error: { details: { code: 'wrong-type' } },
  });
});

t.test('accepts numbers, depth and subjects that other producers write', async (t) => {
  const collection = ['--type', 'https://witness.testifysec.com/attestation-collection/v0.1'];
  for (const name of ['17digits', '18digits', 'int53', 'int63', 'deep33'])
    t.equal(
      (await verify(`large-numbers-and-depth/${name}.json`, ...key, ...artifact, ...collection)).code,
      0,
      name,
    );
  t.equal((await verify('large-numbers-and-depth/int63-slsa.json', ...key, ...artifact)).code, 0);
  for (const depth of [12, 16]) {
    const file = `nested-sbom/cyclonedx-nested-${depth}.json`;
    t.equal((await verify(file, ...key, ...artifact, '--type', 'https://cyclonedx.org/bom')).code, 0, file);
  }
});

t.test('an unsigned or unknown document is unsupported, and its kind is named', async (t) => {
  let nested: unknown = 1;
  for (let depth = 0; depth < 50; depth += 1) nested = { components: [nested] };
  const critical = { identity: {}, image: {}, type: 'cosign container image signature' };
  const documents: readonly (readonly [text: string, found: RegExp])[] = [
    ['{"bomFormat":"CycloneDX","specVersion":"1.5","version":1}', /CycloneDX SBOM/],
    [JSON.stringify({ bomFormat: 'CycloneDX', serial: 0, components: [nested] }), /CycloneDX SBOM/],
    ['{"bomFormat":"CycloneDX","size":1695399063411111111}', /CycloneDX SBOM/],
    ['{"spdxVersion":"SPDX-2.3","SPDXID":"SPDXRef-DOCUMENT"}', /SPDX SBOM/],
    ['{"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[]}', /SPDX SBOM/],
    ['SPDXVersion: SPDX-2.3\n', /SPDX SBOM/],
    ['<?xml version="1.0"?><bom/>', /XML/],
    ['{"_type":"https://in-toto.io/Statement/v1","predicateType":"x","subject":[]}', /statement without/],
    ['{"payload":"e30","protected":"e30","signature":"AA"}', /JSON Web Signature/],
    ['{"payload":"e30","signatures":[{"protected":"e30","signature":"AA"}]}', /JSON Web Signature/],
    ['eyJhbGciOiJFUzI1NiJ9.e30.AAAA\n', /JSON Web Signature/],
    [JSON.stringify({ critical, optional: null }), /simple signing/],
    ['{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}', /oci\.image\.manifest/],
    ['-----BEGIN PGP SIGNATURE-----\n', /OpenPGP/],
    ['{"foo":1}', /neither a bundle nor an envelope/],
    ['{"bomFormat":"CycloneDX","a":1,"a":2}', /CycloneDX SBOM/],
    ['{"bomFormat":"CycloneDX","a":"\\ud800"}', /CycloneDX SBOM/],
    ['{"foo":1,"foo":"\\udc00"}', /neither a bundle nor an envelope/],
    [`{"foo":${'['.repeat(5000)}${']'.repeat(5000)}}`, /neither a bundle nor an envelope/],
    ['[1,2]', /not a JSON object/],
    ['%PDF-1.7\n', /not a JSON object/],
  ];
  for (const [text, found] of documents) {
    const { code, out } = await runLine(['--json', 'verify', '-', ...key, ...artifact], commands, {
      cwd: inputs,
      env,
      stdin: text,
    });
    t.match(
      { code, ...JSON.parse(out) },
      { code: 3, error: { message: found, details: { code: 'unsupported' } } },
      text,
    );
  }
  for (const text of [
    '{"verificationMaterial":{},"bomFormat":"CycloneDX"}',
    '{"payload":"e30","signatures":[]}',
    '{"payload":"e30","signatures":[],"payload":"e30"}',
    `{"payload":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ]) {
    const { code, out } = await runLine(['--json', 'verify', '-', ...key, ...artifact], commands, {
      cwd: inputs,
      env,
      stdin: text,
    });
    t.equal(code, 1, text);
    t.notMatch(JSON.parse(out).error.message, /\^/, 'no regular expression');
  }
});
