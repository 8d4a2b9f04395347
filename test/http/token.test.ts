import t from 'tap';
import { makeToken, matchesToken } from '../../http/private-files.ts';

t.test('each token is unique and has 256 bits', async (t) => {
  const tokens = Array.from({ length: 100 }, makeToken);
  t.equal(new Set(tokens).size, tokens.length, 'each is another one');
  for (const token of tokens) {
    t.match(token, /^[A-Za-z0-9_-]{43}$/);
    t.equal(Buffer.from(token, 'base64url').length, 32);
  }
  const bits = Buffer.concat(tokens.map((token) => Buffer.from(token, 'base64url')));
  t.ok(new Set(bits).size > 200, 'nearly every octet occurs');
});

t.test('only an identical token matches', async (t) => {
  const token = makeToken();
  t.ok(matchesToken(token, token));
  t.ok(matchesToken(`${token}`, Buffer.from(token).toString()));
  for (const given of [
    '',
    token.slice(1),
    token.slice(0, -1),
    `${token}A`,
    ` ${token}`,
    `${token}\n`,
    `${token}\0`,
    token.toUpperCase(),
    `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`,
    `${token.slice(0, -1)}${token.at(-1) === 'A' ? 'B' : 'A'}`,
    token.repeat(2),
    'x'.repeat(1_000_000),
    makeToken(),
  ])
    t.notOk(matchesToken(given, token), JSON.stringify(given.slice(0, 50)));
});

t.test('text that differs only in non-ASCII characters does not match', async (t) => {
  t.notOk(matchesToken('\u00e9', 'e\u0301'));
  t.notOk(matchesToken('\u00e9', '\u00c3\u00a9'));
});
