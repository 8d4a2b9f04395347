/*
 * `npm run demo:workers` starts a Redis and two workers on this machine, until Ctrl+C. With `-- --repo DIR` it adds the
 * git remote of their jobs to that repository. It prints what `.writ/config.toml` and `.writ/workers` have to say.
 * `npm run demo:scale` (`--demo`) takes the sample of `writ demo` through the high-assurance workflow on them, with
 * the content of its artifacts in an S3 server, and ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildRepository, demoFiles, maintainer, makePeople } from '../bin/demo/people.ts';
import { systemClock } from '../core/base/clock.ts';
import { importAdvisories } from '../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../plugins/supply-chain/advisories/open-advisory-database.ts';
import { noRedis, program, startRedis, startWorker } from '../test/engine/workers/local-queue.ts';
import { startS3 } from '../test/plugins/store/fault-proxy.ts';
import { parseFlags } from './parse-flags.ts';

const { values } = parseFlags({ repo: { type: 'string' }, demo: { type: 'boolean' } });

if (noRedis) {
  process.stderr.write(`${noRedis}, and workers need a queue. Debian: \`apt-get install redis-server\`\n`);
  process.exit(1);
}
const place = mkdtempSync(join(tmpdir(), 'writ-local-workers-'));
const content = join(place, 'content.git');
spawnSync('git', ['init', '--quiet', '--bare', content]);
const redis = await startRedis(join(place, 'redis'), true);
const workers = [];
for (const name of ['local-1', 'local-2'])
  workers.push(await startWorker(name, { content, queue: redis.socket, home: join(place, name) }));
const lines = workers.map(({ line }) => line);
try {
  if (values.demo) process.exitCode = await demonstrate();
  else {
    explain();
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  }
} finally {
  for (const worker of workers) await worker.stop();
  await redis.stop();
  rmSync(place, { recursive: true, force: true });
}

function explain(): void {
  if (values.repo !== undefined)
    spawnSync('git', ['remote', 'add', 'workers', content], { cwd: resolve(values.repo), stdio: 'inherit' });
  say(`two workers wait for jobs; Ctrl+C ends them

.writ/config.toml   [workers]
                    queue = "redis"
                    content = "${values.repo === undefined ? content : 'workers'}"
.writ/workers       ${lines.join('\n                    ')}
environment         export WRIT_QUEUE_URL=${redis.socket}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The sample's fix, two approvals and the seal; the exit code is that of the first command that is not as expected. */
async function demonstrate(): Promise<number> {
  const [home, repository] = [join(place, 'home'), join(place, 'orders')];
  mkdirSync(home);
  const { CI: _, XDG_CONFIG_HOME: __, XDG_DATA_HOME: ___, ...others } = process.env;
  const keys = { AWS_ACCESS_KEY_ID: 'AKIADEMO', AWS_SECRET_ACCESS_KEY: 'of-the-demonstration' };
  const env = {
    ...others,
    ...keys,
    HOME: home,
    WRIT_QUEUE_URL: redis.socket,
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const s3 = await startS3();
  /** Runs a program to its end without blocking the S3 server of this process. */
  const run = async (command: string, args: readonly string[], expected = 0): Promise<string> => {
    const child = spawn(command, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, all] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      all += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      all += chunk.toString();
    });
    const [code] = await once(child, 'close');
    if (code !== expected) throw new Error(`\`${[command, ...args].join(' ')}\` ended with ${code}: ${all}`);
    return printed.trim();
  };
  const writ = (args: readonly string[], expected?: number) =>
    run(process.execPath, [program, ...args], expected);
  try {
    say('1/5  a Redis, two workers, an S3 server, and a repository whose policy names them');
    const people = await makePeople(home, maintainer.email);
    await buildRepository(repository, { PATH: process.env.PATH ?? '', HOME: home }, people.allowedSigners);
    const path = join(demoFiles, 'advisories.json');
    const { signal } = new AbortController();
    await importAdvisories({ root: advisoryDir(env), path, clock: systemClock, signal });
    const store = `endpoint = "${s3.endpoint}"\nbucket = "${s3.bucket}"\n`;
    const policy = `\n[store.s3]\n${store}\n[workers]\nqueue = "redis"\ncontent = "${content}"\nafter = 120\n`;
    appendFileSync(join(repository, '.writ', 'config.toml'), policy);
    writeFileSync(join(repository, '.writ', 'workers'), `${lines.join('\n')}\n`);
    await run('git', ['add', '--force', '.writ']);
    await run('git', ['commit', '--quiet', '-m', 'Workers and object storage']);
    const spec = JSON.parse(readFileSync(join(demoFiles, 'intent.json'), 'utf8'));
    const objmodel = {
      ...spec.objmodel,
      objectStore: { ...spec.objmodel?.objectStore, backend: 'external-s3' },
    };
    const intent = join(place, 'intent.json');
    writeFileSync(intent, JSON.stringify({ ...spec, objmodel }));

    say('2/5  the fix: its commands run on the workers; the run waits for two people');
    const waits = await writ(['--json', 'run', intent, '--patch', join(demoFiles, 'fix.patch')], 4);
    const id: string = JSON.parse(waits).data.run_id;
    say('3/5  two people approve');
    for (const name of ['ana', 'ben']) await writ(['approve', id, '--key', join(home, '.ssh', name)]);
    const sealed = JSON.parse(await writ(['--json', 'resume', id])).data;
    say(`     ${sealed.decision.type}: ${sealed.decision.rationale}`);
    say('4/5  where commands ran, and where content is');
    for (const line of (await writ(['show', id])).split('\n'))
      if (/ran on (?:worker|this machine)/.test(line)) say(`     ${line.trim()}`);
    const objects = await s3.keys();
    say(`     ${objects.length} objects in bucket ${s3.bucket}`);
    say('5/5  verifying the sealed commit');
    const signers = join(repository, '.writ', 'allowed_signers');
    const verified = JSON.parse(await writ(['--json', 'verify', 'HEAD', '--allowed-signers', signers])).data;
    say(`     verified: ${verified.verified}`);
    return verified.verified === true && objects.length > 0 ? 0 : 1;
  } finally {
    await s3.close();
  }
}
