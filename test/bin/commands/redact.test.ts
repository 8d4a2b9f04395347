import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const stdin = `mail ann@corp.io\nkey ${token}\n`;

t.test('stdin is redacted to stdout, with a receipt on stderr', async (t) => {
  const { code, out, err } = await runLine(['redact'], commands, { stdin });
  t.equal(code, 0);
  t.equal(out, 'mail [redacted:pii:email]\nkey [redacted:secrets:github-token]\n');
  t.match(err, /pii email: 1 \([0-9a-f]{12}\)\nsecrets github-token: 1 /);
  t.notOk(err.includes(token.slice(4, 20)));
});

t.test('a file is redacted by class, and the JSON output matches its schema', async (t) => {
  const cwd = t.testdir({ 'a.log': stdin });
  const { code, out } = await runLine(['--json', 'redact', 'a.log', '--classes', 'pii'], commands, { cwd });
  const { data } = JSON.parse(out);
  t.equal(code, 0);
  t.strictSame(faultsOf('redact', data), []);
  t.match(data, { classes: ['pii'], count: 1, redactions: [{ rule: 'email', class: 'pii', count: 1 }] });
  t.equal(data.content, `mail [redacted:pii:email]\nkey ${token}\n`);
});

t.test('binary content is returned in base64 and reported as not scanned', async (t) => {
  const zip = Buffer.from('PK\x03\x04\xff\xfe', 'latin1');
  const { out } = await runLine(['--json', 'redact', '-'], commands, { stdin: zip });
  t.match(JSON.parse(out).data, { unscanned: 'zip', content_base64: zip.toString('base64'), count: 0 });
  t.match((await runLine(['redact', '-'], commands, { stdin: zip })).err, 'not looked into: zip');
});

t.test('an unknown class and an unreadable file are refused', async (t) => {
  t.equal((await runLine(['redact', '--classes', 'pil'], commands, { stdin })).code, 129);
  t.equal((await runLine(['redact', 'nowhere'], commands, {})).code, 129);
});
