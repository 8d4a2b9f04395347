import t from 'tap';
import { redact } from '../../../readers/sensitive/redact.ts';
import { disguisedSecrets } from './disguised-secrets.ts';

const options = { key: Buffer.alloc(32, 7), classes: new Set(['secrets'] as const), words: {} };

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

t.test('finds a token in every disguise and keeps JSON valid', async (t) => {
  t.ok(disguisedSecrets.length >= 250, `${disguisedSecrets.length} disguises`);
  for (const { name, text, secret } of disguisedSecrets) {
    const left = Buffer.from(redact(Buffer.from(text), options).bytes).toString();
    t.ok(left !== text && left.includes('[redacted:secrets:') && !left.includes(secret), name);
    if (text.startsWith('{') && parses(text)) t.ok(parses(left), `${name} stays JSON`);
  }
});

t.test('leaves escapes that are not part of a token unchanged', async (t) => {
  const paths = ['C:\\new\\temp\\u0041', '{"a":"line\\n\\"x\\" C:\\\\u0041"}', 'token:\\tq7Wx2Lm9Zt4Kc8Vb'];
  for (const text of [...paths, '\x1b[31mred\x1b[0m', '\\'.repeat(9)])
    t.equal(Buffer.from(redact(Buffer.from(text), options).bytes).toString(), text);
});
