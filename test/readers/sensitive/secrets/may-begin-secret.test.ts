import t from 'tap';
import { assignedAnchors, findAssigned } from '../../../../readers/sensitive/secrets/assigned-secret.ts';
import { mayBeginSecret } from '../../../../readers/sensitive/secrets/may-begin-secret.ts';
import { secretPatterns } from '../../../../readers/sensitive/secrets/secret-patterns.ts';
import { anchorsOf } from '../../../../scripts/secret-tables/pattern-anchors.ts';
import { randomNumbers } from '../../anchors/random-numbers.ts';

const names = [
  ...[
    'password',
    'apiKey',
    'API_KEY',
    'secret',
    'token',
    'Token',
    'pwd',
    'private_key',
    'authToken',
    'PassWort',
  ],
  ...[
    'passwd',
    'passphrase',
    'passCode',
    'PASS',
    'Credentials',
    'credential',
    'secret-Access_Key',
    'secret_-key',
  ],
  ...[
    'SECRETKEY',
    'api-secret-token',
    'api_SecretKey',
    'ACCESS_KEY',
    'accessKey',
    'privKey',
    'encryptionKey',
  ],
  ...['signing_secret', 'SigningKEY', 'auth-Key', 'AUTH_SECRET'],
];
const tails = [
  '_prod',
  'Dev',
  '-staging',
  'LIVE',
  'local',
  'value',
  'String',
  '_base',
  '-text',
  'Plain',
  '_raw',
];
const values = ['Tr0ub4dor&3', 'k9Qz7Lm2Xw8Rt4Vb', 'aB3$xY9!', 'x7K2', '_base64', '_prod', 'L', 'f'];
const quotes = ['"', "'", '`', '\\"', ' ', '  ', '\t', '\n+', ']', '<', '</', ';', '&', '@', '-'];
const signs = [
  ':',
  '=',
  '=>',
  ':=',
  '::',
  '===',
  '>',
  '(',
  ',',
  '?',
  ': string',
  ": &'static str",
  'value',
  'Value',
];
const parts = [
  ...names,
  ...values,
  ...tails,
  'Default',
  '_v2',
  '7',
  'V10',
  's',
  '_type',
  ...quotes,
  ...signs,
  ':',
  '=',
  '"',
];

t.test('`mayBeginSecret` accepts every place where a value is assigned to a secret name', async (t) => {
  const random = randomNumbers(11);
  let found = 0;
  for (let round = 0; round < 60_000; round += 1) {
    const text = ` ${Array.from({ length: 3 + random(8) }, () => parts[random(parts.length)]).join('')}`;
    const bytes = Buffer.from(text, 'latin1');
    for (const anchor of assignedAnchors) {
      const at = text.indexOf(anchor);
      if (at < 0 || findAssigned(text, at) === undefined) continue;
      found += 1;
      if (!mayBeginSecret(bytes, at, bytes.length)) t.fail(`not seen: ${JSON.stringify(text)}`);
    }
  }
  t.ok(found > 500, `${found} values`);
});

t.test('`mayBeginSecret` accepts every anchor longer than four bytes', async (t) => {
  for (const pattern of secretPatterns)
    for (const anchor of anchorsOf(pattern).filter(({ length }) => length > 4)) {
      const bytes = Buffer.from(`use ${anchor} and nothing else`, 'latin1');
      if (!mayBeginSecret(bytes, 4, bytes.length) && pattern.rule !== 'zhipu-key')
        t.fail(`${pattern.rule}: ${anchor}`);
    }
  t.pass();
});

t.test('`mayBeginSecret` refuses a word that only begins like a secret name', async (t) => {
  for (const text of [
    'tokenize = "k9Qz7Lm2Xw8Rt4Vb"',
    'signature: "k9Qz7Lm2Xw8Rt4Vb"',
    'privacy="Tr0ub4dor&3"',
  ]) {
    const bytes = Buffer.from(` ${text}`);
    t.equal(mayBeginSecret(bytes, 1, bytes.length), false, text);
  }
});
