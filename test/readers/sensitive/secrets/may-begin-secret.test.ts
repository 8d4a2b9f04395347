import t from 'tap';
import { assignedAnchors, findAssigned } from '../../../../readers/sensitive/secrets/assigned-secret.ts';
import { mayBeginSecret } from '../../../../readers/sensitive/secrets/may-begin-secret.ts';
import { randomNumbers } from '../../anchors/random-numbers.ts';

const names = [
  'password',
  'apiKey',
  'API_KEY',
  'secret',
  'token',
  'Token',
  'pwd',
  'private_key',
  'authToken',
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
const parts = [...names, ...values, ...quotes, ...signs, ':', '=', '"'];

t.test('wherever a value is given to a name, a look at the bytes lets it pass', async (t) => {
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
