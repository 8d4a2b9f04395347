import { inventedSecrets } from './secrets/invented-secrets.ts';

/** A text in which a secret stands in disguise. */
export interface Disguised {
  readonly name: string;
  readonly text: string;
  /** What may not be left as it stands. */
  readonly secret: string;
}

const tokens = ['github-token', 'npm-token', 'stripe-key', 'slack-token', 'anthropic-key'] as const;
const json = JSON.stringify;
const each = (text: string, as: (code: number) => string): string =>
  [...text].map((char) => as(char.charCodeAt(0))).join('');
const hex = (code: number, width: number): string => code.toString(16).padStart(width, '0');
const unicode = (text: string): string => each(text, (code) => `\\u${hex(code, 4)}`);
/** Its thirteenth to fifteenth characters in another form. */
const within = (text: string, as: (part: string) => string): string =>
  text.slice(0, 12) + as(text.slice(12, 15)) + text.slice(15);
const cycloneDx = (of: object): string =>
  json({ bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'a', ...of }] });
const sarif = (of: object): string =>
  json({ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [{ ruleId: 'a', ...of }] }] });
const statement = (of: object): string => json({ _type: 'https://in-toto.io/Statement/v1', ...of });
const spdx = (of: object): string => json({ spdxVersion: 'SPDX-2.3', packages: [{ name: 'a', ...of }] });

const disguises: Readonly<Record<string, (secret: string) => string>> = {
  'a value': (s) => json({ a: s }),
  'the name of a member': (s) => json({ [s]: 1 }),
  'JSON in JSON in JSON': (s) => json({ a: json({ b: json({ c: s }) }) }),
  'its begin escaped': (s) => `{"a":"${unicode(s.slice(0, 2))}${s.slice(2)}"}`,
  'its midst escaped': (s) => `{"a":"${within(s, unicode)}"}`,
  'all of it escaped': (s) => `{"a":"${unicode(s)}"}`,
  ...Object.fromEntries(
    [2, 4, 8, 16].flatMap((count) => [
      [
        `${count} backslashes in JSON`,
        (s: string) => `{"a":"${within(s, unicode).replaceAll('\\', '\\'.repeat(count))}"}`,
      ],
      [
        `${count} backslashes in text`,
        (s: string) => `x ${within(s, unicode).replaceAll('\\', '\\'.repeat(count))} y`,
      ],
    ]),
  ),
  'octal escapes': (s) =>
    `x ${within(s, (part) => each(part, (code) => `\\${code.toString(8).padStart(3, '0')}`))} y`,
  'hexadecimal escapes': (s) => `x ${within(s, (part) => each(part, (code) => `\\x${hex(code, 2)}`))} y`,
  'escapes of Markdown': (s) => `x ${s.replace(/[_-]/g, '\\$&')} y`,
  'a line that goes on': (s) => `x ${s.slice(0, 10)}\\\n${s.slice(10)} y`,
  'colours between': (s) => `x \x1b[31m${s.slice(0, 10)}\x1b[0m${s.slice(10)}\x1b[1;32m y`,
  'colours between, in JSON': (s) => json({ a: `${s.slice(0, 10)}\x1b[38;5;1m${s.slice(10)}` }),
  'colours between, in JSON in JSON': (s) =>
    json({ a: json({ b: `${s.slice(0, 10)}\x1b[0m${s.slice(10)}` }) }),
  'a link between': (s) => `x ${s.slice(0, 10)}\x1b]8;;http://a\x07${s.slice(10)} y`,
  'a character that nobody sees between': (s) => `x ${s.slice(0, 10)}\u200b${s.slice(10)} y`,
  base64: (s) => `x ${Buffer.from(`is ${s}`).toString('base64')} y`,
  'base64 in JSON': (s) => json({ a: Buffer.from(s).toString('base64') }),
  'hexadecimal digits': (s) => `x ${Buffer.from(s).toString('hex')} y`,
  'percent escapes': (s) => `x ${each(s, (code) => `%${hex(code, 2)}`)} y`,
  'percent escapes in a URL in JSON': (s) =>
    json({ a: `https://a.io/?t=${within(s, (part) => each(part, (code) => `%${hex(code, 2)}`))}` }),
  'a qualifier of a purl': (s) => cycloneDx({ purl: `pkg:npm/a@1?token=${s}` }),
  'a name in a purl': (s) => cycloneDx({ purl: `pkg:npm/${s}@1` }),
  'an escaped qualifier of a purl': (s) =>
    cycloneDx({ purl: '?' }).replace('?', `pkg:npm/a@1?t=${within(s, unicode)}`),
  'base64 in a purl': (s) => cycloneDx({ purl: `pkg:npm/a@1?t=${Buffer.from(s).toString('base64')}` }),
  'a bom-ref': (s) => cycloneDx({ 'bom-ref': s }),
  'the name of a component': (s) => cycloneDx({ name: s }),
  'a version': (s) => cycloneDx({ version: `1.0.0-${s}` }),
  'a hash': (s) => cycloneDx({ hashes: [{ alg: 'MD5', content: s }] }),
  'a licence': (s) => cycloneDx({ licenses: [{ license: { id: s } }] }),
  'a property': (s) => cycloneDx({ properties: [{ name: 'a', value: s }] }),
  'a dependency': (s) => json({ bomFormat: 'CycloneDX', dependencies: [{ ref: 'a', dependsOn: [s] }] }),
  'a locator of SPDX': (s) => spdx({ externalRefs: [{ referenceLocator: `pkg:npm/a@${s}` }] }),
  'a location of SPDX': (s) => spdx({ downloadLocation: `https://a.io/${s}` }),
  'a uri of SARIF': (s) =>
    sarif({ locations: [{ physicalLocation: { artifactLocation: { uri: `src/${s}` } } }] }),
  'a fingerprint': (s) => sarif({ partialFingerprints: { a: s } }),
  'a message of SARIF': (s) => sarif({ message: { text: s } }),
  'a subject': (s) => statement({ subject: [{ name: s, digest: { sha256: s } }] }),
  'a parameter of a build': (s) => statement({ predicate: { externalParameters: { env: { A: s } } } }),
  'a payload': (s) =>
    json({
      payloadType: 'application/vnd.in-toto+json',
      payload: Buffer.from(json({ a: s })).toString('base64'),
    }),
  'an address of a lockfile': (s) =>
    json({ lockfileVersion: 3, packages: { a: { resolved: `https://a.io/?t=${s}` } } }),
  'an attribute': (s) => `<a b="${s}"/>`,
  'text of XML': (s) => `<a>${s}</a>`,
  'references of XML': (s) => `<a>${each(s, (code) => `&#${code};`)}</a>`,
  'its midst in references': (s) =>
    `<a b="${within(s, (part) => each(part, (code) => `&#x${hex(code, 2)};`))}"/>`,
  CDATA: (s) => `<a><![CDATA[${s}]]></a>`,
  'a comment': (s) => `<a><!-- ${s} --></a>`,
  'the name of a test': (s) => `<testsuite><testcase name="${s}" classname="${s}"/></testsuite>`,
  'the name of an element': (s) => `<x><y${s}>1</y${s}></x>`.replaceAll(`y${s}`, s),
  'an instruction': (s) => `<?a ${s}?><a/>`,
  'XML that does not close': (s) => `<a><b>${s}</a>`,
  'JSON that ends early': (s) => `{"a":"${s}"`,
  'JSON with a comma too many': (s) => `{"a":"${s}",}`,
  'JSON with a comment': (s) => `{// ${s}\n"a":1}`,
  'JSON with a control character': (s) => `{"a":"x\t${s}"}`,
  'a member twice': (s) => `{"a":"${s}","a":"${s}"}`,
  'JSON that is deep': (s) => `${'['.repeat(600)}${json(s)}${']'.repeat(600)}`,
  'one line of many': (s) => `{"a":1}\n{"b":"${s}"}\n`,
  TAP: (s) => `TAP version 14\n1..1\nok 1 - ${s}\n`,
};

/** Tokens that nobody was ever given, each in every disguise. */
export const disguisedSecrets: readonly Disguised[] = tokens.flatMap((rule) => {
  const secret = inventedSecrets.find(([one]) => one === rule)?.[1] ?? '';
  return Object.entries(disguises).map(([name, disguise]) => ({
    name: `${rule}: ${name}`,
    text: disguise(secret),
    secret,
  }));
});
