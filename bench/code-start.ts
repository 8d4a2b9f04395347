import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure, interleaved, timed } from './measure.ts';

const limitMs = 400;

/** From the start of `writ code --web-only` to its first answer over HTTP, beyond what `node -e 0` takes. */
export async function benchCodeStart(launcher: string): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'writ-bench-code-'));
  const repository = join(root, 'repository');
  cpSync('fixtures/runs/_sample', repository, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=Sample', '-c', 'user.email=s@sample.example', 'commit', '--quiet', '-m', 'Sample');
  const env = {
    ...process.env,
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    XDG_CACHE_HOME: join(root, 'cache'),
    NODE_COMPILE_CACHE: undefined,
    GEMINI_API_KEY: 'a-key-that-is-never-sent',
  };
  const argv = [launcher, 'code', '--web-only', '--port', '0', '--mcp-port', '0', '--json'];
  const ended: Promise<unknown>[] = [];
  const works = {
    node: () => execFileSync(process.execPath, ['-e', '0'], { cwd: repository, env }),
    async code() {
      const child = spawn(process.execPath, argv, {
        cwd: repository,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const { data } = JSON.parse(await firstLine(child));
      const answer = await fetch(`${data.base_url}/api/code/session`, { headers: { connection: 'close' } });
      if (answer.status !== 200) throw new Error(`the session answered ${answer.status}`);
      ended.push(once(child, 'close'));
      child.kill('SIGTERM');
    },
  };
  // Two that leave compiled code behind, and are waited for.
  for (let warm = 0; warm < 2; warm += 1) await timed(works.code);
  await Promise.all(ended);
  const times = await interleaved(9, { ...works, end: () => Promise.all(ended.splice(0)) });
  await Promise.all(ended);
  rmSync(root, { recursive: true, force: true });
  const detail = `${times.code.toFixed(0)} ms, node ${times.node.toFixed(0)} ms`;
  return figure(
    'writ code --web-only serves, beyond node -e 0',
    times.code - times.node,
    limitMs,
    'ms',
    detail,
  );
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of stdout ?? []) {
    text += String(part);
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
  }
  throw new Error(`it ended: ${text}`);
}
