/*
 * `npm run demo:workers` starts a Redis and two workers on this machine, until Ctrl+C. With `-- --repo DIR` it adds the
 * git remote of their jobs to that repository. It prints what `.writ/config.toml` and `.writ/workers` have to say.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseFlags } from './parse-flags.ts';

const { values } = parseFlags({ repo: { type: 'string' } });
const program = fileURLToPath(new URL('../bin/writ.js', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'writ-local-workers-'));
const children: ChildProcess[] = [];

if (spawnSync('redis-server', ['--version']).error) {
  process.stderr.write(
    'redis-server is not installed, and workers need a queue. Debian: `apt-get install redis-server`\n',
  );
  process.exit(1);
}
const content = join(place, 'content.git');
spawnSync('git', ['init', '--quiet', '--bare', content]);
const socket = join(place, 'redis.sock');
const own = ['--port', '0', '--unixsocket', socket, '--dir', place, '--appendonly', 'yes'];
await start('redis-server', own, 'eady to accept connections');
const lines: string[] = [];
for (const name of ['local-1', 'local-2']) {
  const home = join(place, name);
  mkdirSync(home);
  const args = [program, 'worker', '--content', content, '--name', name, '--home', home];
  const printed = await start(process.execPath, args, 'waits for jobs');
  lines.push(/as: (.+)/.exec(printed)?.[1] ?? '');
}
if (values.repo !== undefined)
  spawnSync('git', ['remote', 'add', 'workers', content], { cwd: resolve(values.repo), stdio: 'inherit' });
process.stdout.write(`two workers wait for jobs; Ctrl+C ends them

.writ/config.toml   [workers]
                    queue = "redis"
                    content = "${values.repo === undefined ? content : 'workers'}"
.writ/workers       ${lines.join('\n                    ')}
environment         export WRIT_QUEUE_URL=${socket}
`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
for (const child of children.reverse()) {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}
rmSync(place, { recursive: true, force: true });

/** Starts a program, and resolves with what it printed once that contains `ready`. */
function start(command: string, args: readonly string[], ready: string): Promise<string> {
  const env = { ...process.env, WRIT_QUEUE_URL: socket };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  children.push(child);
  let printed = '';
  return new Promise((done, fail) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.includes(ready)) done(printed);
      });
    child.once('exit', () => fail(new Error(`\`${command}\` ended: ${printed}`)));
  });
}
