import { readFileSync } from 'node:fs';
import { checksumOf } from '../../../readers/sensitive/secrets/weigh-secret.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';

/** One file of one change: what it holds is a secret or is not. */
export interface Sample {
  readonly path: string;
  readonly text: string;
  /** Of a positive: its format. Of a negative: what it only looks like. */
  readonly about: string;
}

/** Repeatable drawing: the set is the same at each run, and no value of it stands in the repository. */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state * 48271) % 2147483647;
    return Math.floor((this.#state / 2147483647) * limit);
  }

  from(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet.charAt(this.below(alphabet.length))).join('');
  }
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const hexDigits = '0123456789abcdef';
const base62 = `${lower}${lower.toUpperCase()}${digits}`;
const base64 = `${base62}+/`;

const draw = new Draw(20_261_121);
const word = (length: number) => draw.from(base62, length);
const hex = (length: number) => draw.from(hexDigits, length);

function strongPassword(): string {
  return `${draw.from(lower, 3)}${draw.from(digits, 2)}${draw.from('!%+=^~', 1)}${draw.from(lower.toUpperCase(), 3)}${draw.from(base62, 4)}7k`;
}

function pem(label: string, dashes = '-----'): string {
  const body = Array.from({ length: 14 }, () => draw.from(base64, 64)).join('\n');
  const [begin, end] = dashes === '-----' ? ['-----BEGIN ', '-----END '] : ['---- BEGIN ', '---- END '];
  const tail = dashes === '-----' ? '-----' : ' ----';
  return `${begin}${label}${tail}\n${body}\n${end}${label}${tail}\n`;
}

function jsonWebToken(alg: string): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg, typ: 'JWT' })}.${part({ sub: `user-${draw.below(1e6)}`, iss: 'login.corp.io', exp: 1_900_000_000 })}.${draw.from(`${base62}-_`, 43)}`;
}

const places: readonly ((value: string) => Sample)[] = [
  (value) => ({ path: 'src/client.ts', text: `const client = connect('${value}');\n`, about: '' }),
  (value) => ({ path: '.env', text: `A=1\nVALUE=${value}\nB=2\n`, about: '' }),
  (value) => ({ path: 'config/app.yaml', text: `service:\n  value: "${value}"\n`, about: '' }),
  (value) => ({ path: 'docs/notes.md', text: `Use ${value} for the demo.\n`, about: '' }),
];

/**
 * Values that an issuer would have given: every known format twice, keys of every kind, and random values under
 * secret-like names.
 */
export function positives(): readonly Sample[] {
  const samples: Sample[] = [];
  const add = (about: string, path: string, text: string): void => {
    samples.push({ about, path, text });
  };
  const contextual = new Set(['json-web-token', 'authorization-header', 'url-password', 'private-key']);
  for (const [index, [rule, value]] of inventedSecrets.entries()) {
    if (contextual.has(rule)) continue;
    for (const turn of [0, 1]) {
      const place = places[(index + turn) % places.length];
      if (place) samples.push({ ...place(value), about: rule });
    }
  }
  for (const prefix of ['ghp', 'gho', 'ghu', 'ghs', 'ghr', 'npm']) {
    const payload = word(30);
    add('checked-token', 'ci.yml', `token: ${prefix}_${payload}${checksumOf(payload)}\n`);
  }
  const key = 'PRIVATE KEY';
  for (const label of [
    key,
    `RSA ${key}`,
    `EC ${key}`,
    `DSA ${key}`,
    `ENCRYPTED ${key}`,
    `OPENSSH ${key}`,
    `PGP ${key} BLOCK`,
  ])
    add('private-key', 'id', pem(label));
  add('private-key', 'id', pem(`SSH2 ENCRYPTED ${key}`, '----'));
  add('private-key', 'key.go', `const key = \`${pem(`RSA ${key}`)}\`\n`);
  add('private-key', 'sa.json', `{"type":"service_account","private_key":${JSON.stringify(pem(key))}}\n`);
  add(
    'private-key',
    'id.ppk',
    `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${draw.from(base64, 48)}\nPrivate-MAC: ${hex(64)}\n`,
  );
  for (const alg of ['HS256', 'RS256', 'ES256', 'EdDSA'])
    add('json-web-token', 'a.ts', `const t = "${jsonWebToken(alg)}";\n`);
  for (const scheme of [
    'postgres',
    'postgresql',
    'mysql',
    'mongodb+srv',
    'redis',
    'amqps',
    'https',
    'ftp',
    'smtp',
    'mssql',
  ])
    add('url-password', 'src/db.py', `URL = "${scheme}://svc_app:${word(14)}@db-1.corp.io:5432/app"\n`);
  add(
    'connection-string',
    'a.cs',
    `var c = "Server=tcp:db.corp.io,1433;User ID=app;Password=${strongPassword()};Encrypt=True";\n`,
  );
  add(
    'connection-string',
    'a.java',
    `String c = "jdbc:sqlserver://db.corp.io;user=app;password=${strongPassword()};";\n`,
  );
  add('authorization', 'a.sh', `curl -H "Authorization: Bearer ${word(40)}" https://api.corp.io\n`);
  add(
    'authorization',
    'a.sh',
    `curl -H "Authorization: Basic ${Buffer.from(`svc:${word(18)}`).toString('base64')}" https://api.corp.io\n`,
  );
  add('authorization', 'a.ts', `headers: { Authorization: 'token ${word(40)}' },\n`);
  const named: readonly ((value: string) => readonly [string, string])[] = [
    (value) => ['a.ts', `const apiKey = '${value}';\n`],
    (value) => ['a.ts', `  clientSecret: "${value}",\n`],
    (value) => ['a.ts', `const accessToken: string = "${value}";\n`],
    (value) => ['a.py', `SECRET_KEY = "${value}"\n`],
    (value) => ['a.py', `headers["api_key"] = "${value}"\n`],
    (value) => ['a.go', `authToken := "${value}"\n`],
    (value) => ['A.java', `private static final String API_SECRET = "${value}";\n`],
    (value) => ['a.rb', `config.secret_key = '${value}'\n`],
    (value) => ['a.php', `define('AUTH_KEY', '${value}');\n`],
    (value) => ['a.php', `'token' => '${value}',\n`],
    (value) => ['.env', `APP_SECRET=${value}\n`],
    (value) => ['a.yml', `api_token: ${value}\n`],
    (value) => ['a.properties', `service.api-key=${value}\n`],
    (value) => ['a.json', `{"access_key": "${value}"}\n`],
    (value) => ['a.tf', `  private_key = "${value}"\n`],
    (value) => ['a.xml', `<apiKey>${value}</apiKey>\n`],
    (value) => ['Dockerfile', `ENV SIGNING_KEY=${value}\n`],
    (value) => ['a.rs', `let encryption_key = "${value}";\n`],
  ];
  for (const write of named) {
    for (const value of [word(32), hex(40), word(20)]) {
      const [path, text] = write(value);
      add('assigned-key', path, text);
    }
  }
  const passwords: readonly ((value: string) => readonly [string, string])[] = [
    (value) => ['a.ts', `const dbPassword = '${value}';\n`],
    (value) => ['a.py', `password="${value}"\n`],
    (value) => ['.env', `DB_PASSWORD=${value}\n`],
    (value) => ['a.yml', `password: "${value}"\n`],
    (value) => ['a.cs', `settings["Password"] = "${value}";\n`],
    (value) => ['a.java', `ds.setPassword("${value}");\n`],
    (value) => ['a.ini', `passwd = ${value}\n`],
  ];
  for (const write of passwords) {
    for (let turn = 0; turn < 2; turn += 1) {
      const [path, text] = write(strongPassword());
      add('assigned-password', path, text);
    }
  }
  addHidden(add);
  addSigned(add);
  return samples;
}

/**
 * Where and how a value stands that is not simply written down: in a name, encoded, cut, behind an option, in a file of
 * log-ins.
 */
function addHidden(add: (about: string, path: string, text: string) => void): void {
  const token = `ghp_${word(36)}`;
  const pass = strongPassword();
  const key = pem(`RSA PRIVATE ${'KEY'}`);
  const base64Of = (text: string) => Buffer.from(text).toString('base64');
  const hexOf = (text: string) => Buffer.from(text).toString('hex');
  const spelt = (text: string, mark: string) =>
    [...text].map((char) => `${mark}${char.charCodeAt(0).toString(16)}`).join('');
  add('file-name', `keys/${token}.txt`, 'x\n');
  for (const before of ['', 'a', 'ab']) add('base64', 'a.ts', `const x = '${base64Of(before + token)}';\n`);
  add('base64', 'a.yaml', `  tls.key: ${base64Of(key)}\n`);
  add('base64', 'key.b64', `${base64Of(key).replace(/.{76}/g, '$&\n')}\n`);
  add('hex', 'a.ts', `const x = '${hexOf(token)}';\n`);
  add('hex', 'a.txt', `${hexOf(key).toUpperCase()}\n`);
  add('percent', 'a.ts', `const x = '${spelt(token, '%')}';\n`);
  add('percent', 'a.ts', `const x = '${encodeURIComponent(key)}';\n`);
  add('percent', 'a.ts', `const x = '${encodeURIComponent(key).replaceAll('%20', '+')}';\n`);
  add('escapes', 'a.ts', `const x = '${spelt(token, '\\u00')}';\n`);
  add('escapes', 'a.py', `x = '${spelt(token, '\\x')}'\n`);
  const [head, middle, rest] = [token.slice(0, 2), token.slice(2, 20), token.slice(20)];
  add('cut', 'a.ts', `const x = "${head}" + "${middle}" + '${rest}';\n`);
  add('cut', 'a.min.js', `x("${head}"+"${middle}${rest}")\n`);
  add('cut', 'a.py', `x = "${head}${middle}" "${rest}"\n`);
  add('cut', 'a.php', `$x = '${head}${middle}' . '${rest}';\n`);
  add('cut', 'a.lua', `x = "${head}${middle}" .. "${rest}"\n`);
  add('cut', 'A.java', `String x = "${head}${middle}" +\n    "${rest}";\n`);
  add('cut', 'A.java', `String x = "${head}${middle}"\n    + "${rest}";\n`);
  add('cut', 'a.js', `x = "${[...token].join('" + "')}"\n`);
  add('pair', 'web.config', `<add key="DbPassword" value="${pass}" />\n`);
  add('pair', 'a.xml', `<property name="hibernate.connection.password">${pass}</property>\n`);
  add('pair', 'a.json', `{"name": "DB_PASSWORD", "value": "${pass}"}\n`);
  add('pair', 'a.yaml', `- name: DB_PASSWORD\n  value: ${pass}\n`);
  add('command', 'README.md', `curl -u svc:${pass} https://api.corp.io\n`);
  add('command', 'a.sh', `curl https://api.corp.io \\\n  -u svc:${word(14)}\n`);
  add('command', 'a.ts', `run("tool --password=${pass} x");\n`);
  add('command', 'a.sh', `tool --password ${pass}\n`);
  add('command', 'a.py', `call(["tool", "--password", "${pass}"])\n`);
  add('command', 'a.ts', `exec("tool --token ${word(32)}")\n`);
  add('command', 'a.sh', `mysql -u root -p${word(14)} db\n`);
  add('command', 'a.sh', `sshpass -p '${word(14)}' ssh host\n`);
  add('command', 'a.sh', `redis-cli -h x -a ${word(14)} ping\n`);
  add('command', 'a.sh', `PGPASSWORD=${pass} psql\n`);
  add('log-in', '.netrc', `machine api.corp.io\n  login svc\n  password ${word(12)}\n`);
  add('log-in', '.netrc', `default login svc password ${word(12)}\n`);
  add('log-in', '_netrc', `machine api.corp.io password ${word(12)} login svc\n`);
  add('log-in', 'a.md', `machine api.corp.io login svc account ops password "${word(12)}"\n`);
  for (const host of ['$(HOST)', '{host}', '$HOST', '<host>', '%s'])
    add('url-password', 'src/db.py', `url = f"postgres://svc_app:${strongPassword()}@${host}:5432/app"\n`);
  add('url-password', 'a.go', `dsn := "postgres://svc_app:${strongPassword()}@" + host\n`);
  add('url-password', 'a.json', `{"url": "https:\\/\\/svc:${word(14)}@git.corp.io\\/a"}\n`);
  add('url-password', 'a.ts', `const u = 'postgres://svc:p@${strongPassword()}@db-1.corp.io/app';\n`);
  add('log-in', '.pgpass', `db.corp.io:5432:app:svc:${word(12)}\n`);
  const auths = `{"auths":{"registry.corp.io":{"auth":"${base64Of(`svc:${pass}`)}"}}}`;
  add('log-in', 'config.json', `${auths}\n`);
  add('log-in', 'a.yaml', `  .dockerconfigjson: ${base64Of(auths)}\n`);
  add('log-in', '.npmrc', `//r.corp.io/:_authToken=${word(36)}\n`);
  add('log-in', '.npmrc', `_auth=${base64Of(`svc:${pass}`)}\n`);
  add('submodule', '.gitmodules', `\turl = https://svc:${word(14)}@git.corp.io/x.git\n`);
  add('submodule', '.gitmodules', `\turl = https://${hex(40)}@git.corp.io/x.git\n`);
  add('binary', 'a.env', `T=${token}\0\n`);
  add('binary', 'a.env', `T=${token.slice(0, 10)}\0${token.slice(10)}\n`);
  add('binary', 'a.bin', `\0\x01${token}\0`);
}

/** Values with the signs that generators draw, each in its container. */
function addSigned(add: (about: string, path: string, text: string) => void): void {
  const django = () => `${draw.from(`${lower}${digits}!@#$%^&*(-_=+)`, 46)}k7&2`;
  const signed = () => `${word(4)}7k${draw.from('&#|(<,', 1)}${draw.from(`${base62}!@%^*-_`, 8)}Z3`;
  for (let turn = 0; turn < 4; turn += 1) add('signed', 'settings.py', `SECRET_KEY = '${django()}'\n`);
  add('signed', 'a.json', `{"clientSecret": "${signed()}${signed()}"}\n`);
  add('signed', 'compose.yml', `    - "POSTGRES_PASSWORD=${signed()}"\n`);
  add('signed', 'a.yaml', `- name: DB_PASSWORD\n  value: ${signed()}\n`);
  add('signed', 'a.cs', `var c = "Server=db;User Id=sa;Password=${signed()};Encrypt=True";\n`);
  add('signed', 'settings.xml', `<password>${signed().replace('<', '&lt;')}</password>\n`);
  add('signed', 'a.tf', `  password = "${signed()} ${signed()}"\n`);
  add('signed', 'a.sh', `curl -u 'svc:${signed()}' https://api.corp.io\n`);
  add('signed', 'a.sh', `mysql -u root -p'${signed()}' db\n`);
}

/** Lines that look like secrets and are none: written by hand, and made of digests, ids, pictures and packed code. */
export function negatives(): readonly Sample[] {
  const written = readFileSync(new URL('../../../fixtures/secrets/negatives.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const bar = line.indexOf('|');
      return { path: line.slice(0, bar), text: `${line.slice(bar + 1)}\n`, about: 'written' };
    });
  const made: Sample[] = [];
  const add = (about: string, path: string, text: string): void => {
    made.push({ about, path, text });
  };
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  const digest = () => Buffer.from(hex(128), 'hex').toString('base64');
  for (let turn = 0; turn < 25; turn += 1) {
    add('sha-1', 'a.ts', `const commit = '${hex(40)}';\n`);
    add('sha-256', 'a.py', `EXPECTED = "${hex(64)}"\n`);
    add('md5', 'SUMS', `${hex(32)}  file-${turn}.tar.gz\n`);
    add('uuid', 'a.json', `{"id": "${uuid()}", "request_id": "${uuid()}"}\n`);
    add('integrity', 'package-lock.json', `      "integrity": "sha512-${digest()}"\n`);
    add(
      'integrity',
      'yarn.lock',
      `  integrity sha512-${digest()}\n  resolved "https://registry.example.org/a/-/a-1.${turn}.0.tgz#${hex(40)}"\n`,
    );
    add(
      'integrity',
      'go.sum',
      `example.org/mod v1.${turn}.0 h1:${Buffer.from(hex(64), 'hex').toString('base64')}\n`,
    );
    add('integrity', 'Cargo.lock', `checksum = "${hex(64)}"\n`);
    add(
      'integrity',
      'poetry.lock',
      `    {file = "a-1.${turn}-py3-none-any.whl", hash = "sha256:${hex(64)}"},\n`,
    );
    add(
      'picture',
      'a.css',
      `.a{background:url(data:image/png;base64,iVBORw0KGgo${draw.from(base64, 400)}==)}\n`,
    );
    add(
      'picture',
      'a.ts',
      `export const icon = 'data:image/gif;base64,R0lGODlh${draw.from(base64, 200)}';\n`,
    );
    add('packed', 'dist/a.min.js', `${packedCode()}\n`);
    add('source-map', 'a.js.map', `{"mappings":"${draw.from(`${lower.toUpperCase()}${lower};,`, 300)}"}\n`);
    add(
      'certificate',
      'ca.pem',
      `-----BEGIN CERTIFICATE-----\n${draw.from(base64, 64)}\n${draw.from(base64, 64)}\n-----END CERTIFICATE-----\n`,
    );
    add('public-key', 'k.pub', `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5${draw.from(base64, 48)} host-${turn}\n`);
  }
  return [...written, ...made];
}

function packedCode(): string {
  const names = () => draw.from(lower, 1 + draw.below(2));
  return Array.from(
    { length: 40 },
    () =>
      `function ${names()}(${names()},${names()}){return ${names()}[${draw.below(99)}]||(${names()}.${draw.from(lower, 4)}=${draw.below(1e6)})}`,
  ).join('');
}
