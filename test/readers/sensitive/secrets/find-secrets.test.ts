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

const valueIn = (text: string): string | undefined => {
  const [match] = findSecrets(text);
  return match && text.slice(match.start, match.end);
};

t.test('a value ends where its container ends, whatever signs it has', async (t) => {
  const every = [..."&;|)(,#<>{}[]'\\!$%^*@~:?/+="];
  const but = (signs: string): readonly string[] => every.filter((sign) => !signs.includes(sign));
  const [inDouble, inSingle] = [
    [...but('\\'), '\\"', '\\\\'],
    [...but("'\\"), '"', "\\'", '\\\\'],
  ];
  for (const [form, signs] of [
    ['DB_PASSWORD=VALUE', every],
    ['PATH=/bin\nexport PGPASSWORD=VALUE\nHOME=/root\n', every],
    ['+SMTP_PASS=VALUE\r\n', every],
    ['PGPASSWORD=VALUE psql -h db', every],
    ['spring.datasource.password=VALUE', every],
    ['//r.corp.io/:_password=VALUE', every],
    ['password = VALUE # of the staging', every],
    ['  db_password: VALUE\n', every],
    ['  client_secret: VALUE\n', every],
    ['  - name: DB_PASSWORD\n    value: VALUE\n', every],
    ['    [password] => VALUE\n', every],
    ['level=error password=VALUE user=ana', every],
    ['run --password VALUE --host x', but('=')],
    ['{"password":"VALUE"}', [...inDouble, ' ']],
    ["{'password': 'VALUE', 'x': 1}", [...inSingle, ' ']],
    ["SECRET_KEY = 'VALUE'  # of Django", inSingle],
    ['{"clientSecret": "VALUE"}', inDouble],
    ['log("{\\"password\\":\\"VALUE\\"}")', [...but('\\'), '\\\\\\"']],
    ['  - "POSTGRES_PASSWORD=VALUE"', [...inDouble, ' ']],
    ["  - 'api_key: VALUE'", inSingle],
    ['x("Server=db;User Id=sa;Password=VALUE;Encrypt=True")', but(";'")],
    ['curl https://h/?user=a&password=VALUE&x=y', but("&#'>")],
    ['<password>VALUE</password>', ['&amp;', '&lt;', ...but('<')]],
    ['<password><![CDATA[VALUE]]></password>', but('<')],
    ["curl -u 'svc:VALUE' https://h/", [...inSingle, "'\\''"]],
    ['sh("curl --user \\"svc:VALUE\\" https://h/")', but('\\')],
    ["mysql -u root -p'VALUE' db", inSingle],
    ["redis-cli -h my-app -a 'VALUE' ping", inSingle],
  ] as const)
    for (const sign of signs) {
      const value = `kT7vQ2xW${sign}mN4pR9zL`;
      t.equal(valueIn(form.replace('VALUE', () => value)), value, `${form} ${sign}`);
    }
});

t.test('a value ends before the next name, and an expression or a message is none', async (t) => {
  for (const [text, value] of [
    ['x = f(password=Tr0ub4dor3x&y)\n', 'Tr0ub4dor3x'],
    ['PASSWORD=Tr0ub4dor3x; export PASSWORD\n', 'Tr0ub4dor3x'],
    ['https://example.net/?password=Tr0ub4dor3x&user=ana\n', 'Tr0ub4dor3x'],
    ['dsn = "Password=Tr0ub4dor3x;Server=db"\n', 'Tr0ub4dor3x'],
    ['DB_PASSWORD=(Tr0ub4dor3x\n', '(Tr0ub4dor3x'],
    ['DB_PASSWORD=kT7(vQ2)xW[mN4]pR9zL\n', 'kT7(vQ2)xW[mN4]pR9zL'],
    ["  password: ('Tr0ub4dor3x')\n", 'Tr0ub4dor3x'],
    ["password = 'Tr0ub4dor3x''\n", 'Tr0ub4dor3x'],
    ['  password: getPassword(options[0]),\n', undefined],
    ['  password: (getPassword || ask2)(options),\n', undefined],
    ['  password: Optional<string>\n', undefined],
    ['  String password = info.substring(from3 + 1);\n', undefined],
    [`q = 'password="'+user.password+'"'\n`, undefined],
    ['s = "Password:"+row.getString("Pass2word")\n', undefined],
    [`  secret: 'rotate(every30days), then notify(team2)'\n`, undefined],
    [`  secret: 'a1(user),b2(name),c3(item)'\n`, undefined],
    ['  password: "Use 8-16 letters"\n', undefined],
    ['  "password": "one two3?"\n', undefined],
    ['mysql -p"$DB_PASS" -u "$USER"\n', undefined],
    ['<password>@db2.password@</password>\n', undefined],
    ['password = "%DB_PASSWORD1%"\n', undefined],
  ] as const)
    t.equal(valueIn(text), value, text);
});
