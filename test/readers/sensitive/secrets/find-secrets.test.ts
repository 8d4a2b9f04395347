import t from 'tap';
import { findSecrets as findInBytes } from '../../../../readers/sensitive/secrets/find-secrets.ts';
import { secretPatterns } from '../../../../readers/sensitive/secrets/secret-patterns.ts';
import { inventedSecrets, privateKey } from './invented-secrets.ts';

const findSecrets = (text: string) => findInBytes(Buffer.from(text, 'latin1'));
const rulesIn = (text: string) => findSecrets(text).map(({ rule }) => rule);

t.test('finds a value of every known format by its rule', async (t) => {
  t.same(
    [...new Set(inventedSecrets.map(([rule]) => rule))].sort(),
    [...new Set([...secretPatterns.map(({ rule }) => rule), 'private-key'])].sort(),
    'every rule has a value',
  );
  for (const [rule, value] of inventedSecrets) {
    for (const text of [value, `a = "${value}";\n`, `x ${value}\n`, `{"k":"${value}"}`]) {
      const found = findSecrets(text).find((match) => match.rule === rule);
      t.ok(found, `${rule} in ${text.length} characters`);
      const whole = text.slice(found?.start, found?.end);
      // Of a name and its value, or an address, the secret alone.
      t.ok(value.includes(whole) && whole.length >= Math.min(12, value.length), rule);
    }
  }
});

t.test('finds an escaped token, even one that is recognised by its context', async (t) => {
  const escapes: Readonly<Record<string, (digits: string) => string>> = {
    percent: (digits) => `%${digits}`,
    'percent in capitals': (digits) => `%${digits.toUpperCase()}`,
    unicode: (digits) => `\\u00${digits}`,
    hexadecimal: (digits) => `\\x${digits}`,
  };
  const byWhatStandsBefore = [
    ...['terraform-token', 'mailchimp-key', 'telegram-token', 'zhipu-key'],
    ...['azure-client-secret', 'azure-devops-token'],
  ];
  const kinds = ['npm-token', 'twilio-key', ...byWhatStandsBefore];
  for (const [rule, value] of inventedSecrets.filter(([rule]) => kinds.includes(rule)))
    for (const [name, escaping] of Object.entries(escapes)) {
      const escaped = Buffer.from(value, 'latin1').toString('hex').replace(/../g, escaping);
      const text = `key = "${escaped}" // ${'x'.repeat(40)}`;
      const found = findSecrets(text).filter((match) => match.rule === rule);
      t.match(found, [{ start: 7, end: 7 + escaped.length, value, wrapped: 'encoded' }], `${rule} ${name}`);
    }
});

t.test('ignores text that only resembles a secret', async (t) => {
  for (const text of [
    'task-force and risk-averse: sk-learn, sk-short',
    'AKIA is a prefix; AKIA1234 is too short; XAKIAABCDEFGHIJKLMNOP is a name',
    '-----BEGIN PRIVATE KEY----- is how a key starts and -----END PRIVATE KEY----- how it ends',
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUABCDEFGHIJKLMNOP\n-----END CERTIFICATE-----',
    'https://example.com:8080/path@2x.png and git@example.com:a/b',
    'ghp_short npm_install_flags hf_transfer pat14 dp.pt',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==',
  ]) {
    t.same(rulesIn(text), [], text);
  }
});

t.test('matches a private key once whatever its line breaks', async (t) => {
  for (const text of [
    privateKey,
    privateKey.replaceAll('\n', '\r\n'),
    JSON.stringify(privateKey),
    privateKey.replaceAll('\n', '\n      '),
  ]) {
    const [match, ...others] = findSecrets(text);
    t.match(match, { rule: 'private-key' });
    t.equal(others.length, 0);
    t.match(text.slice(match?.start, match?.end), /^-----BEGIN[\s\S]+-----END (?:\w+ )*PRIVATE KEY-----$/);
  }
});

t.test('finds a truncated private key up to the end of its material', async (t) => {
  const cut = privateKey.slice(0, privateKey.indexOf('-----END') - 70);
  const [match] = findSecrets(`${cut}\nand then prose follows`);
  t.equal(match?.end, cut.length);
});

t.test('finds two keys when the first lacks its end', async (t) => {
  const cut = privateKey.slice(0, privateKey.indexOf('-----END'));
  t.same(rulesIn(`${cut}${privateKey}`), ['private-key', 'private-key']);
});

t.test('finds a secret at the start and at the end of a text', async (t) => {
  const [, value = ''] = inventedSecrets.find(([rule]) => rule === 'github-token') ?? [];
  t.same(rulesIn(value), ['github-token']);
  t.same(rulesIn(`text ${value}`), ['github-token']);
});

t.test('a password ends where its quotes, its word or its line end, whatever signs it has', async (t) => {
  const valueIn = (text: string): string | undefined => {
    const [match] = findSecrets(text);
    return match && text.slice(match.start, match.end);
  };
  const [bare, quoted] = [[..."&;|)(,#<>{}[]'\\!$%^*@~:?/+="], [...'&;|)(,#<>{}[]!$%^*@~:?/+=']];
  for (const [form, signs] of [
    ['DB_PASSWORD=VALUE', bare],
    ['PATH=/bin\nexport PGPASSWORD=VALUE\nHOME=/root\n', bare],
    ['+SMTP_PASS=VALUE\r\n', bare],
    ['PGPASSWORD=VALUE psql -h db', bare],
    ['spring.datasource.password=VALUE', bare],
    ['password = VALUE # of the staging', bare],
    ['  db_password: VALUE\n', bare],
    ['level=error password=VALUE user=ana', bare],
    ['run --password VALUE --host x', bare.filter((sign) => sign !== '=')],
    ['{"password":"VALUE"}', [...quoted, "'", '\\"', '\\\\']],
    ["{'password': 'VALUE', 'x': 1}", [...quoted, '"', "\\'"]],
  ] as const)
    for (const sign of signs) {
      const value = `kT7vQ2xW${sign}mN4pR9zL`;
      t.equal(valueIn(form.replace('VALUE', () => value)), value, `${form} ${sign}`);
    }
  for (const [text, value] of [
    ['x = f(password=Tr0ub4dor3x&y)\n', 'Tr0ub4dor3x'],
    ['PASSWORD=Tr0ub4dor3x; export PASSWORD\n', 'Tr0ub4dor3x'],
    ['https://example.net/?password=Tr0ub4dor3x&user=ana\n', 'Tr0ub4dor3x'],
    ['  password: getPassword(options[0]),\n', undefined],
    ['  password: Optional<string>\n', undefined],
    [`q = 'password="'+user.password+'"'\n`, undefined],
  ] as const)
    t.equal(valueIn(text), value, text);
});
