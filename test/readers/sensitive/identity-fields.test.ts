import t from 'tap';
import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { redact } from '../../../readers/sensitive/redact.ts';
import { long } from '../../rooms/long.ts';
import { inventedSecrets } from './secrets/invented-secrets.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const options = { key: Buffer.alloc(32, 7), classes: new Set(sensitiveClasses), words: {} };
const clean = (text: string) => Buffer.from(redact(Buffer.from(text), options).bytes).toString();
const mail = 'ann@corp.io';
const mark = '[redacted:pii:email]';

/** Names that no version tells apart from an address, or a word from a password. */
const named = 'pkg@stable.channel';
const documents: Readonly<Record<string, (value: string) => object>> = {
  CycloneDX: (value) => ({
    bomFormat: 'CycloneDX',
    components: [
      { name: value, version: value, purl: value, 'bom-ref': value, licenses: [{ license: { id: value } }] },
    ],
    dependencies: [{ ref: value, dependsOn: [value] }],
  }),
  'SPDX 2': (value) => ({
    spdxVersion: 'SPDX-2.3',
    packages: [{ name: value, versionInfo: value, downloadLocation: value }],
  }),
  'SPDX 3': (value) => ({
    '@context': 'https://spdx.org/rdf/3.0.1/spdx-context.jsonld',
    '@graph': [{ spdxId: value }],
  }),
  SARIF: (value) => ({
    version: '2.1.0',
    runs: [{ results: [{ ruleId: value, guid: value }] }],
  }),
  'in-toto': (value) => ({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: value, uri: value }],
  }),
  OpenAPI: (value) => ({ openapi: '3.1.0', paths: { '/a': { get: { operationId: value, $ref: value } } } }),
  'a lockfile': (value) => ({
    lockfileVersion: 3,
    packages: { a: { version: value, dependencies: { b: value } } },
  }),
};

t.test('keeps names in identity fields of known documents but redacts secrets there', async (t) => {
  for (const [kind, document] of Object.entries(documents)) {
    const text = JSON.stringify(document(named), undefined, 1);
    const bytes = Buffer.from(text);
    t.equal(redact(bytes, options).bytes, bytes, kind);
    t.not(clean(JSON.stringify(document(token))), JSON.stringify(document(token)), `${kind}: a token`);
    t.notOk(clean(JSON.stringify(document(token))).includes(token), kind);
    const password = 'https://svc:q7Wx2Lm9Zt4Kc8@corp.io/a';
    t.notOk(clean(JSON.stringify(document(password))).includes('q7Wx2'), `${kind}: a password in an address`);
    const said = JSON.stringify(document(`Ann <${mail}>`));
    t.notOk(clean(said).includes(mail), `${kind}: words are no name`);
  }
  t.equal(
    clean(JSON.stringify({ list: [{ name: named }] })),
    JSON.stringify({ list: [{ name: mark }] }),
    'of no kind',
  );
});

t.test('redacts personal data in fields about people in any document', async (t) => {
  for (const document of [
    {
      bomFormat: 'CycloneDX',
      metadata: { authors: [{ name: mail }], manufacturer: { contact: [{ name: mail }] } },
    },
    { spdxVersion: 'SPDX-2.3', creationInfo: { creators: [`Person: ${mail}`], name: 'x' } },
    { _type: 'https://in-toto.io/Statement/v1', predicate: { people: [{ name: mail }] } },
    { bomFormat: 'CycloneDX', components: [{ properties: [{ name: mail, value: mail }] }] },
  ])
    t.same(
      JSON.parse(clean(JSON.stringify(document))),
      JSON.parse(JSON.stringify(document).replaceAll(mail, mark)),
    );
});

t.test('recognises purls, digests and versions by their form in any document', async (t) => {
  const text = JSON.stringify({
    ...{ purl: 'pkg:npm/a@stable.channel', integrity: 'sha512-a@b.cd', version: '8.8.4.4' },
    digest: 'x',
  });
  t.equal(clean(text), text);
  t.equal(clean('{"purl":"ann@corp.io"}'), `{"purl":"${mark}"}`);
  t.equal(clean('{"version":"ann@corp.io"}'), `{"version":"${mark}"}`);
});

t.test('leaves every byte outside a redaction unchanged', async (t) => {
  t.equal(
    clean(`{ "a" :\t"\\u0041 \\/ ann\\u0040corp.io \\"x\\" \\ud83d\\ude00 é",\r\n "b": 1.50e1 }`),
    `{ "a" :\t"\\u0041 \\/ ${mark} \\"x\\" \\ud83d\\ude00 é",\r\n "b": 1.50e1 }`,
  );
  // An address takes 64 bytes before its sign: half of a character goes as a whole.
  t.equal(clean(`{"a":"\\u00e9${'a'.repeat(63)}@corp.io"}`), `{"a":"${mark}"}`);
  t.equal(
    clean(`<a b='it&#39;s "x"&#10;ann&#64;corp.io>' >it's &gt; "ann@corp.io" &unknown; &amp;</a >\n`),
    `<a b='it&#39;s "x"&#10;${mark}>' >it's &gt; "${mark}" &unknown; &amp;</a >\n`,
  );
});

t.test('redacted member names stay distinct where they differed and equal where they matched', async (t) => {
  const text = `{"x":{"ann@corp.io":1,"ben@corp.io":2},"y":{"ann@corp.io":3},"z":{"[redacted:pii:email]#2":4}}`;
  t.equal(clean(text), `{"x":{"${mark}":1,"${mark}#3":2},"y":{"${mark}":3},"z":{"${mark}#2":4}}`);
});

long('keeps 60,000 redacted member names distinct', async (t) => {
  const members = Array.from({ length: 60_000 }, (_, index) => `"p${index}@corp.io":1`);
  const left = clean(`{${members.join()}}`);
  t.equal(Object.keys(JSON.parse(left) as object).length, members.length);
});

t.test('reads an invalid document as plain text without identity fields', async (t) => {
  const json = (value: string, end = '}') => `{"bomFormat":"CycloneDX","name":"${named}","x":${value}${end}`;
  const xml = (value: string, end = '</bom>') =>
    `<bom xmlns="http://cyclonedx.org/schema/bom/1.6"><name>${named}</name>${value}${end}`;
  for (const text of [json('{"a":[1,"\\n"]}'), xml('<a b="1"/>')]) t.equal(clean(text), text);
  for (const value of [
    ...[
      '{"a":1,}',
      '{"a" 1}',
      '{a:1}',
      '[1 2]',
      '[,1]',
      '[1,,2]',
      '[01]',
      'tru',
      '"\\q"',
      '[1]]',
      '"\x01"',
      '1 2',
    ],
    ...['[', '{"a"}', '"\\u00g0"', '-', '1.', "'a'", '//\n1'],
  ])
    t.equal(clean(json(value)), json(value).replace(named, mark), value);
  t.equal(clean(json('1', '')), json('1', '').replace(named, mark), 'an end that is missing');
  for (const value of [
    '<a><b></a></b>',
    '<a b=1/>',
    '<a b="<"/>',
    '<a b/>',
    '<a',
    '</a>',
    '<!ENTITY a "b">',
    '<!--',
  ])
    t.equal(clean(xml(value)), xml(value).replace(named, mark), value);
  for (const end of ['', '</bom><a/>', '</bom>x', '</a>'])
    t.equal(clean(xml('', end)), xml('', end).replace(named, mark), `with the end ${end}`);
});

t.test('recognises the kind of a document only at its outermost level', async (t) => {
  const inner = { inside: { bomFormat: 'CycloneDX' }, components: [{ name: named }] };
  t.equal(clean(JSON.stringify(inner)), JSON.stringify(inner).replace(named, mark));
});
