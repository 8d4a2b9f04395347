/* Secrets travel encrypted to workers with a label, through a real Redis and real git, and to no one else. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { decryptText, isForOthers, readIdentity } from '../../../attest/keys/age.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { long } from '../../rooms/long.ts';
import { outputOf, runProgram } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { people, sampleWithPeople, sign } from '../people.ts';
import { type Json, merge } from '../sample.ts';
import { said } from './local-queue.ts';
import { fix, noRedis, openScene, type Scene } from './scene.ts';

const source = { kind: 'patch', bytes: fix } as const;
const token = 'tok en/Zq8vXw3Lm5Rt9Kp?';
const forms = [
  token,
  encodeURIComponent(token),
  Buffer.from(token).toString('hex'),
  btoa(token).slice(0, -4),
];
const age = '-----BEGIN AGE ENCRYPTED FILE-----';

/** Passes where it is given the secret, and shows it in every way that a result has. */
const program = `const s = process.env.API_TOKEN ?? '';
const fs = require('node:fs');
console.log(s, encodeURIComponent(s), Buffer.from(s).toString('hex'), btoa(s));
console.error(s);
fs.writeFileSync(process.env.REPORTS_DIR + '/build-log.json', JSON.stringify({ s }));
fs.writeFileSync('left-' + s.replaceAll('/', ''), s);
process.exit(require('node:crypto').createHash('sha256').update(s).digest('hex') === '${sha256Hex(token)}' ? 0 : 3);`;

const check = {
  ...{ id: 'unit', kind: 'command', timeoutSeconds: 60, required: true },
  command: `node -e "${program.replaceAll('\n', ' ')}"`,
  artifactsProduced: ['test-log'],
};

function spec(more: Json = {}): Json {
  const secrets = { policy: 'read-only-scoped', allowedScopes: ['api'] };
  return merge({ security: { secrets }, acceptance: { verificationPlan: { fastChecks: [check] } } }, more);
}

const secretsOf = ({ secrets }: Scene) => ({
  ...secrets,
  ofScope: async (scope: string) => new Map(scope === 'api' ? [['API_TOKEN', token]] : []),
  known: async () => [token],
});

/** Every object of the git remote through which jobs travel, also those that no ref names any more. */
function objectsOf({ sample, content }: Scene): string {
  const ids = sample.git(
    '--git-dir',
    content,
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objectname)',
  );
  const how = { cwd: content, env: sample.env, input: `${ids}\n` };
  return outputOf('git', ['cat-file', '--batch'], how).toString('latin1');
}

/** Secrets as they travelled, and what an identity reads of them. */
async function readWith(scene: Scene, home: string): Promise<readonly string[]> {
  const identity = (await readIdentity(join(home, 'state', 'keys', 'secrets.txt'))) ?? '';
  const sealed = objectsOf(scene).match(
    new RegExp(`${age}[\\s\\S]+?-----END AGE ENCRYPTED FILE-----\n`, 'g'),
  );
  const read = (sealed ?? []).map((one) =>
    decryptText(one, identity).then(
      (bytes) => Buffer.from(bytes).toString(),
      (fault) => (isForOthers(fault) ? 'for others' : 'damaged'),
    ),
  );
  return Promise.all(read);
}

/** All that a Redis is sent. */
async function monitor(t: Test, socket: string): Promise<() => string> {
  const child = spawn('redis-cli', ['-s', socket, 'monitor'], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => {
    all += chunk.toString('latin1');
  });
  await said(child, 'OK');
  return () => all;
}

const ranOn = (view: Awaited<ReturnType<Scene['sample']['run']>>) => view.stages[0]?.checks[0]?.ranOn;

t.test(
  'a check gets its secret on a worker with the label, and nothing else holds it',
  { skip: noRedis },
  async (t) => {
    const scene = await openScene(t);
    const { sample, content } = scene;
    const messages = await monitor(t, (await scene.secrets.named('WRIT_QUEUE_URL')) ?? '');
    const plain = await scene.worker('plain-1');
    const worker = await scene.worker('vault-1', ['--labels', 'fast,vault']);
    t.match(worker.line, /^vault-1 labels="fast,vault" ssh-ed25519 \S+ age1[0-9a-z]{58}$/);
    scene.policy([plain.line, worker.line], 'secrets = "vault"\n[verdicts]\nreuse = "workers"\n');
    const view = await sample.run({ source, secrets: secretsOf(scene) }, spec());
    t.equal(view.decision?.type, 'commit', JSON.stringify(view.stages[0]?.checks));
    t.match(ranOn(view), { worker: 'vault-1', fence: 1 });
    t.equal(sample.git('--git-dir', content, 'for-each-ref'), '', 'no result is kept for other runs');
    t.equal(statSync(join(worker.home, 'state', 'keys', 'secrets.txt')).mode & 0o777, 0o600);
    t.notMatch(plain.printed(), 'taken', 'no other worker is asked');
    t.match(messages(), 'writ-jobs.vault', 'what the queue was sent was read');
    const [read] = await readWith(scene, worker.home);
    t.match(read, JSON.stringify(token), 'it travelled');
    t.same(await readWith(scene, plain.home), ['for others']);

    const objects = objectsOf(scene);
    t.match(objects, '[redacted:secrets:word]', 'results at the remote were read');
    const texts = { objects, messages: messages(), logs: plain.printed() + worker.printed() };
    for (const [name, text] of Object.entries(texts))
      for (const form of forms) t.notOk(text.includes(form), `${name}: ${form}`);
    for (const place of [worker.home, plain.home, content, sample.root, sample.home]) {
      const found = runProgram('grep', ['-rlaF', token, place], { cwd: sample.root, env: sample.env });
      t.equal(found.stdout.toString(), '', place);
    }
  },
);

long(
  'a worker without the label at the policy commit gets no secret',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const scene = await openScene(t);
    const { sample } = scene;
    const liar = await scene.worker('liar', ['--labels', 'vault']);
    const old = await scene.worker('old', ['--labels', 'vault']);
    const forged = await scene.worker('forged', ['--labels', 'vault']);
    const worker = await scene.worker('vault-1', ['--labels', 'vault']);
    await worker.stop();
    const lines = [
      liar.line.replace(' labels="vault"', ''),
      old.line.replace(/ age1\w+$/, ' a comment, as older lines have'),
      worker.line,
    ];
    const [, key] = /(ssh-ed25519 \S+)/.exec(worker.line) ?? [];
    mkdirSync(join(sample.root, '.writ'), { recursive: true });
    writeFileSync(join(sample.root, '.writ', 'allowed_signers'), `ann@sample.example ${key}\n`);
    sample.git('add', '-f', '.writ/allowed_signers');
    scene.policy(lines, 'secrets = "vault"\n', 60);
    // A candidate that lists another recipient: the policy commit counts.
    const listing = join(sample.root, '.writ', 'workers');
    writeFileSync(listing, `${readFileSync(listing, 'utf8')}${forged.line}\n`);
    const more = Buffer.from(`${sample.git('diff', '--', '.writ/workers')}\n`);
    sample.git('checkout', '--', '.writ/workers');
    const change = { kind: 'patch', bytes: Buffer.concat([fix, more]) } as const;
    const running = sample.run(
      { source: change, secrets: secretsOf(scene) },
      spec({ intent: { inScope: ['src/', 'test/', '.writ/'] } }),
    );
    const declined = /declined: its secrets are for other workers/;
    const wasDeclined = () => [liar, old, forged].some(({ printed }) => declined.test(printed()));
    let ended: unknown;
    running.then(
      (view) => (ended = view.decision),
      (fault: unknown) => (ended = fault),
    );
    await until(() => ended !== undefined || wasDeclined());
    t.ok(wasDeclined(), JSON.stringify(ended));
    for (const one of [liar, old, forged]) await one.stop();
    await scene.worker('vault-1', ['--labels', 'vault'], worker.home);
    const view = await running;
    t.match(ranOn(view), { worker: 'vault-1' });
    t.equal(view.stages[0]?.checks[0]?.status, 'passed');
    for (const one of [liar, old, forged]) {
      t.match(new Set(await readWith(scene, one.home)), new Set(['for others']));
      t.notMatch(one.printed(), /job \w+ published/);
    }
    t.match((await readWith(scene, worker.home))[0], JSON.stringify(token));
  },
);

long(
  'a check with secrets runs here unless the policy commit names a label',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const scene = await openScene(t);
    const { sample } = scene;
    const worker = await scene.worker('vault-1', ['--labels', 'vault']);
    const cases = [
      { line: worker.line, more: '', why: 'it is given secrets' },
      { line: worker.line, more: 'secrets = "other"\n', why: /no listed worker with label `other`/ },
      {
        line: worker.line.replace(/ age1\w+$/, ''),
        more: 'secrets = "vault"\n',
        why: /no listed worker with label `vault` has a recipient/,
      },
    ];
    sample.git('tag', 'base');
    for (const { line, more, why } of cases) {
      scene.policy([line], more);
      const view = await sample.run({ source, secrets: secretsOf(scene) }, spec());
      t.equal(view.decision?.type, 'commit');
      t.match(ranOn(view), { here: why });
      sample.git('reset', '-q', '--hard', 'base');
    }
    t.notMatch(objectsOf(scene), age);
    t.notMatch(worker.printed(), 'taken');
  },
);

long('secrets that may change something stay here', { skip: noRedis, timeout: 300_000 }, async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const scene = await openScene(t, sample);
  const worker = await scene.worker('vault-1', ['--labels', 'vault']);
  scene.policy([worker.line], 'secrets = "vault"\n');
  const secrets = secretsOf(scene);
  const published = { ...check, id: 'publish', artifactsProduced: [] };
  const plan = {
    fastChecks: [{ ...check, command: 'true' }],
    releaseChecks: [
      published,
      { id: 'people', kind: 'policy', command: 'require-approvers', required: true },
    ],
  };
  const view = await sample.run(
    { source, secrets },
    {
      risk: {
        rationale: 'A fix; `api` is for publishing.',
        humanInLoop: { required: true, minApprovers: 2 },
      },
      security: { secrets: { policy: 'allow-scoped', allowedScopes: ['api'] } },
      acceptance: { verificationPlan: plan },
    },
  );
  for (const person of people.slice(0, 2)) await sign(sample, view.runId, key(person), person);
  const done = await sample.resume(view.runId, { secrets });
  t.equal(done.decision?.type, 'commit', JSON.stringify(done.stages));
  const all = done.stages.flatMap(({ checks }) => checks);
  t.match(all.find(({ id }) => id === 'unit')?.ranOn, { worker: 'vault-1' });
  t.match(all.find(({ id }) => id === 'publish')?.ranOn, { here: /may change something/ });
  t.notMatch(objectsOf(scene), age);
});
