import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { mayHoldSecret } from '../../spec/own-secrets.ts';
import { ownSecretsIn } from '../../spec/secrets-in-text.ts';
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { disguisedSecrets } from '../readers/sensitive/disguised-secrets.ts';
import { inventedSecrets, privateKey } from '../readers/sensitive/secrets/invented-secrets.ts';

const specs = resolve(import.meta.dirname, '../../fixtures/specs/valid');

/** Every text of a JSON value, names included. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)])
    : [];
}

t.test('mayHoldSecret flags every text with a known secret, in any encoding', async (t) => {
  const forms = [
    (text: string) => text,
    (text: string) => `See ${text}, please.`,
    (text: string) => Buffer.from(text).toString('base64'),
    (text: string) => Buffer.from(text).toString('base64url'),
    (text: string) => Buffer.from(text).toString('hex'),
    encodeURIComponent,
    (text: string) => text.replace(/^..../, '$&\u200b'),
  ];
  const texts = [
    ...[privateKey, ...inventedSecrets.map(([, value]) => value)].flatMap((one) =>
      forms.map((as) => as(one)),
    ),
    ...disguisedSecrets.map(({ text }) => text),
  ];
  const held = texts.filter((text) => ownSecretsIn(text).length > 0);
  t.ok(held.length > 500, `${held.length} of ${texts.length} hold one`);
  t.strictSame(
    held.filter((text) => !mayHoldSecret(text)),
    [],
  );
});

t.test('mayHoldSecret flags randomly generated secrets', async (t) => {
  const random = seededRandom(toldSeed(t));
  const draw = (letters: string, length: number): string =>
    Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
  const base62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const missed = Array.from({ length: 3000 }, (_, index) => {
    const prefix =
      ['ghp_', 'npm_', 'glpat-', 'sk_live_', 'xoxb-123456789012-', 'sk-ant-api03-'][index % 6] ?? '';
    const length = [36, 36, 20, 24, 24, 93][index % 6] ?? 0;
    return prefix + draw(base62, length) + (index % 6 === 5 ? 'AA' : '');
  }).filter((text) => ownSecretsIn(text).length > 0 && !mayHoldSecret(text));
  t.strictSame(missed, []);
});

t.test('mayHoldSecret does not flag ordinary specs', async (t) => {
  for (const name of ['typical', 'high-assurance']) {
    const spec = JSON.parse(readFileSync(join(specs, `${name}.json`), 'utf8')) as unknown;
    t.notOk(mayHoldSecret(textsOf(spec).join('\n\n')), name);
  }
});
