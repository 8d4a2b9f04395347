import t, { type Test } from 'tap';
import { matchesFormat } from '../../../gates/formats/matches-format.ts';
import { readFixture } from '../reports/read-fixture.ts';
import { cyclonedx, envelope, inclusionProof, sarif, spdx, statement, toBytes } from './sample-documents.ts';

type Case = readonly [what: string, document: unknown];

async function accepts(t: Test, format: string, cases: readonly Case[]) {
  for (const [what, document] of cases) {
    const bytes = document instanceof Uint8Array ? document : toBytes(document);
    t.strictSame(await matchesFormat(format, bytes), undefined, what);
  }
}

async function refuses(t: Test, format: string, cases: readonly Case[]) {
  for (const [what, document] of cases) {
    const bytes = document instanceof Uint8Array ? document : toBytes(document);
    const mismatch = await matchesFormat(format, bytes);
    t.ok(mismatch, what);
    t.ok(mismatch?.expected && mismatch.found);
  }
}

/** What JSON text is not, whatever the format. */
const noJson: readonly Case[] = [
  ['nothing', ''],
  ['text', 'hello'],
  ['cut off', '{"version":"2.1.0","runs":['],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['latin1', Buffer.from('{"a":"\u00e9"}', 'latin1')],
];
const noObject: readonly Case[] = [...noJson, ['a list', []], ['null', null], ['an empty object', {}]];

t.test('sarif', async (t) => {
  const [run] = sarif.runs;
  await accepts(t, 'sarif', [
    ['minimal', sarif],
    ['no runs', { ...sarif, runs: [] }],
    ['results not computed', { ...sarif, runs: [{ tool: run?.tool }] }],
    ['with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), toBytes(sarif)])],
  ]);
  await refuses(t, 'sarif', [
    ...noObject,
    ['another version', { ...sarif, version: '2.0.0' }],
    ['a keyword only', { $schema: 'sarif-2.1.0', version: '2.1.0' }],
    ['a run without a tool', { ...sarif, runs: [{ results: [] }] }],
    ['a run without a name', { ...sarif, runs: [{ tool: { driver: {} } }] }],
    ['results that are no list', { ...sarif, runs: [{ ...run, results: {} }] }],
    ['a result without a message', { ...sarif, runs: [{ ...run, results: [{ ruleId: 'x' }] }] }],
  ]);
});

t.test('spdx-json', async (t) => {
  await accepts(t, 'spdx-json', [
    ['minimal', spdx],
    ['version 2.2', { ...spdx, spdxVersion: 'SPDX-2.2' }],
    ['without packages', { ...spdx, packages: undefined }],
  ]);
  const [first] = spdx.packages;
  const members = ['spdxVersion', 'dataLicense', 'SPDXID', 'name', 'documentNamespace', 'creationInfo'];
  await refuses(t, 'spdx-json', [
    ...noObject,
    ...members.map((name): Case => [`without ${name}`, { ...spdx, [name]: undefined }]),
    ['a fragment in the namespace', { ...spdx, documentNamespace: 'https://example.com/a#b' }],
    ['no creators', { ...spdx, creationInfo: { ...spdx.creationInfo, creators: [] } }],
    ['a creator of no kind', { ...spdx, creationInfo: { ...spdx.creationInfo, creators: ['me'] } }],
    ['no time', { ...spdx, creationInfo: { creators: ['Tool: a'] } }],
    ['packages that are no list', { ...spdx, packages: {} }],
    ['a package without location', { ...spdx, packages: [{ ...first, downloadLocation: undefined }] }],
    ['a package without name', { ...spdx, packages: [{ ...first, name: '' }] }],
    ['a package without id', { ...spdx, packages: [{ ...first, SPDXID: 'a' }] }],
    ['the same id twice', { ...spdx, packages: [first, first] }],
    ['cyclonedx', cyclonedx],
  ]);
});

t.test('cyclonedx-json', async (t) => {
  await accepts(t, 'cyclonedx-json', [
    ['minimal', cyclonedx],
    ['only what is required', { bomFormat: 'CycloneDX', specVersion: '1.5' }],
  ]);
  const deep = Array.from({ length: 100 }).reduce<unknown>(
    (inner) => ({ type: 'file', name: 'f', ...(inner === undefined ? {} : { components: [inner] }) }),
    undefined,
  );
  await refuses(t, 'cyclonedx-json', [
    ...noObject,
    ['without bomFormat', { ...cyclonedx, bomFormat: undefined }],
    ['an unknown version', { ...cyclonedx, specVersion: '0.9' }],
    ['a serial number that is none', { ...cyclonedx, serialNumber: 'urn:uuid:1' }],
    ['version 0', { ...cyclonedx, version: 0 }],
    ['components that are no list', { ...cyclonedx, components: {} }],
    ['a component without type', { ...cyclonedx, components: [{ name: 'a' }] }],
    ['a component of no known type', { ...cyclonedx, components: [{ type: 'thing', name: 'a' }] }],
    ['a component without name', { ...cyclonedx, components: [{ type: 'library' }] }],
    [
      'an inner component without name',
      { ...cyclonedx, components: [{ type: 'library', name: 'a', components: [{ type: 'file' }] }] },
    ],
    [
      'the same reference twice',
      { ...cyclonedx, components: [{ type: 'library', name: 'a', 'bom-ref': 'orders' }] },
    ],
    ['a root without type', { ...cyclonedx, metadata: { component: { name: 'a' } } }],
    ['metadata that is no object', { ...cyclonedx, metadata: 'x' }],
    ['a dependency without reference', { ...cyclonedx, dependencies: [{}] }],
    ['components without end', { ...cyclonedx, components: [deep] }],
    ['spdx', spdx],
  ]);
});

t.test('in-toto+json', async (t) => {
  await accepts(t, 'in-toto+json', [
    ['a statement', statement],
    ['an envelope', envelope(statement)],
    [
      'a bundle',
      { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json', dsseEnvelope: envelope(statement) },
    ],
  ]);
  await refuses(t, 'in-toto+json', [
    ...noObject,
    ['another type', { ...statement, _type: 'https://example.com/Statement/v1' }],
    ['no predicate type', { ...statement, predicateType: undefined }],
    ['no subject', { ...statement, subject: [] }],
    ['a subject without digest', { ...statement, subject: [{ name: 'a' }] }],
    ['a subject with an empty digest', { ...statement, subject: [{ name: 'a', digest: {} }] }],
    ['an envelope of another type', envelope(statement, { payloadType: 'text/plain' })],
    ['an envelope without signatures', envelope(statement, { signatures: [] })],
    ['an envelope with an empty signature', envelope(statement, { signatures: [{ sig: '' }] })],
    ['an envelope over something else', envelope({ a: 1 })],
    ['an envelope over text', envelope('hello')],
    ['a bundle without envelope', { dsseEnvelope: null }],
  ]);
});

t.test('rekor-style inclusion-proof', async (t) => {
  const uuid = { [`${'a'.repeat(80)}`]: { verification: { inclusionProof } } };
  await accepts(t, 'rekor-style inclusion-proof', [
    ['alone', inclusionProof],
    ['in an entry', { logIndex: 2, inclusionProof }],
    ['in an entry under its id', uuid],
    ['in a bundle', { verificationMaterial: { tlogEntries: [{ inclusionProof }] } }],
    ['of the only leaf', { logIndex: 0, treeSize: 1, rootHash: 'ab'.repeat(32), hashes: [] }],
  ]);
  await refuses(t, 'rekor-style inclusion-proof', [
    ...noObject,
    ['an index beyond the tree', { ...inclusionProof, logIndex: 5 }],
    ['no size', { ...inclusionProof, treeSize: undefined }],
    ['a short root', { ...inclusionProof, rootHash: 'ab' }],
    ['a short hash', { ...inclusionProof, hashes: ['ab'] }],
    ['too many hashes', { ...inclusionProof, hashes: Array.from({ length: 65 }, () => 'ab'.repeat(32)) }],
    ['an entry without proof', { logIndex: 2, verification: {} }],
  ]);
});

t.test('git-diff', async (t) => {
  const diff = 'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
  await accepts(t, 'git-diff', [
    ['a change', diff],
    ['a mode', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n'],
    ['a rename', 'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n'],
  ]);
  await refuses(t, 'git-diff', [
    ['nothing', ''],
    ['text', 'hello'],
    ['unified only', diff.slice(diff.indexOf('---'))],
    ['a first line only', 'diff --git a/x b/x'],
    ['talk about a diff', 'diff --git a/x b/x\nhello\n'],
    ['something before it', `hello\n${diff}`],
  ]);
});

t.test('JUnit XML and TAP are recognized by their content', async (t) => {
  await accepts(t, 'junit+xml', [['a report', readFixture('pytest.xml')]]);
  await refuses(t, 'junit+xml', [
    ['nothing', ''],
    ['TAP', readFixture('node.tap')],
    ['other XML', '<a/>'],
  ]);
  await accepts(t, 'tap', [['a stream', readFixture('node.tap')]]);
  await refuses(t, 'tap', [
    ['nothing', ''],
    ['XML', readFixture('pytest.xml')],
    ['cut off', 'ok 1\n'],
  ]);
});

t.test('JSON, Markdown and text are recognized by their content', async (t) => {
  await accepts(t, 'json', [
    ['an object', {}],
    ['a number', '1'],
  ]);
  await refuses(t, 'json', noJson);
  await accepts(t, 'markdown', [['prose', '# Notes\n']]);
  await refuses(t, 'markdown', [
    ['nothing', ''],
    ['blanks', ' \n'],
    ['binary', 'a\0b'],
    ['latin1', Buffer.from('\u00e9', 'latin1')],
  ]);
  await accepts(t, 'text', [
    ['nothing: a silent build', ''],
    ['colours', '\x1b[31mred'],
    ['whatever a program printed', Buffer.from('\u00e9', 'latin1')],
  ]);
  await refuses(t, 'text', [['binary', 'a\0b']]);
});

t.test('an unknown format requires at least one byte', async (t) => {
  await accepts(t, 'x-house-format', [['a byte', 'a']]);
  await refuses(t, 'x-house-format', [['nothing', '']]);
});

t.test('case and blanks in a format name are ignored', async (t) => {
  await refuses(t, ' SARIF ', [['text', 'hello']]);
});

t.test('a document of more than 64 MiB is not parsed', async (t) => {
  const found = await matchesFormat('json', new Uint8Array(64 * 1024 * 1024 + 1).fill(0x20));
  t.match(found?.found, /more than the/);
});

t.test('a document that mixes two formats or repeats a member matches no format', async (t) => {
  const documents = { sarif, 'spdx-json': spdx, 'cyclonedx-json': cyclonedx, 'in-toto+json': statement };
  const marks = { runs: [], spdxVersion: 'SPDX-2.3', bomFormat: 'CycloneDX', _type: 'x' };
  for (const [format, document] of Object.entries(documents)) {
    await accepts(t, format, [[format, document]]);
    for (const [mark, value] of Object.entries(marks)) {
      if (Object.hasOwn(document, mark)) continue;
      await refuses(t, format, [[`${format} with ${mark}`, { ...document, [mark]: value }]]);
    }
    const text = JSON.stringify(document);
    const [first = ''] = Object.entries(document).map(([key, value]) => JSON.stringify({ [key]: value }));
    const twice = `${first.slice(0, -1)},${text.slice(1)}`;
    await refuses(t, format, [[`${format} with a member twice`, twice]]);
    await refuses(t, 'json', [[`JSON with a member twice`, twice]]);
  }
  await accepts(t, 'json', [['JSON of any kind', marks]]);
  await refuses(t, 'junit+xml', [
    ['JUnit before a script', '<testsuites/><script>1</script>'],
    ['JUnit behind a script', '<script>1</script><testsuites/>'],
    ['JUnit before a zip archive', `<testsuites/>PK\u0003\u0004`],
  ]);
  await refuses(t, 'text', [['a zip archive behind text', 'hello\nPK\u0003\u0004\0']]);
});
