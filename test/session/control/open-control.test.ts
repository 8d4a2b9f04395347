import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { parseDiscovery } from '../../../http/private-files.ts';
import { type ControlFiles, findControlPlace, openControl } from '../../../session/client/open-control.ts';

const program = fileURLToPath(new URL('control-program.ts', import.meta.url));

/** A session's control in a process of its own; what it said first. */
async function other(t: Test, root: string, ...more: string[]) {
  const child = spawn(process.execPath, [program, root, ...more], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(() => child.kill('SIGKILL'));
  const said = await new Promise<string>((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
  const end = async (signal?: NodeJS.Signals) => {
    if (signal === undefined) child.stdin.end();
    else child.kill(signal);
    await ended;
  };
  return { said, end, pid: child.pid };
}

async function opened(root: string, mode: 'observe' | 'write' = 'write', files: ControlFiles = {}) {
  const place = await findControlPlace(root, files);
  const control = await openControl({ mode, place, workingDir: root, clock: systemClock });
  return { place, control };
}

t.test('the control files need distinct paths that differ from the MCP token and lock file', async (t) => {
  const root = t.testdir();
  const names: readonly ControlFiles[] = [
    { tokenFile: join(root, 'x'), infoFile: join(root, 'x') },
    { tokenFile: join(root, '.writ/code/control.lock') },
    { tokenFile: join(root, '.writ/code/mcp-token') },
    { infoFile: join(root, '.writ/code/mcp-token') },
    { infoFile: join(root, '.writ/code/mcp-token.lock') },
    { tokenFile: join(root, '.writ/code/mcp-token-6789') },
  ];
  for (const files of names)
    await t.rejects(findControlPlace(root, files), { code: 'USAGE', exitCode: 129 }, JSON.stringify(files));
});

t.test('a writable session writes a token and a discovery file and removes both at its end', async (t) => {
  const root = t.testdir();
  const { place, control } = await opened(root);
  t.match(control.token, /^[\w-]{43}$/);
  t.equal(readFileSync(place.token, 'utf8'), control.token);
  t.notOk(existsSync(place.info), 'nothing is told before it is served');
  const at = { baseUrl: 'http://127.0.0.1:1', mcpUrl: 'http://[::1]:2/mcp', threadId: 'thread' };
  await control.publish(at);
  const told = readFileSync(place.info, 'utf8');
  t.match(parseDiscovery(told, ''), {
    version: 1,
    mode: 'write',
    pid: process.pid,
    workingDir: root,
    ...at,
  });
  const names = 'version mode pid baseUrl mcpUrl workingDir threadId startedAt';
  t.strictSame(Object.keys(JSON.parse(told)), names.split(' '), 'these, and nothing else');
  t.match(JSON.parse(told).startedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const token = control.token ?? '';
  for (const secret of [token, createHash('sha256').update(token).digest('hex'), place.token])
    t.notOk(told.includes(secret), 'nothing of the token, nor where it is');
  for (const path of [place.token, place.info, place.infoLock])
    t.equal(statSync(path).mode & 0o777, 0o600, path);
  t.equal(readFileSync(join(place.directory, '.gitignore'), 'utf8'), '*\n');
  await control[Symbol.asyncDispose]();
  t.strictSame(readdirSync(place.directory).sort(), ['.gitignore', 'control.lock']);
  const { control: again } = await opened(root);
  t.not(again.token, control.token, 'each has one of its own');
  await again[Symbol.asyncDispose]();
});

t.test('observe mode writes no file except a discovery file that was named', async (t) => {
  const root = t.testdir();
  const { control } = await opened(root, 'observe');
  await control.publish({ baseUrl: 'http://127.0.0.1:1' });
  t.equal(control.token, undefined);
  t.strictSame(readdirSync(root), []);
  const { control: told } = await opened(root, 'observe', { infoFile: join(root, 'info.json') });
  await told.publish({ baseUrl: 'http://127.0.0.1:1' });
  t.equal(JSON.parse(readFileSync(join(root, 'info.json'), 'utf8')).mode, 'observe');
  t.strictSame(readdirSync(root).sort(), ['info.json', 'info.json.lock']);
  await told[Symbol.asyncDispose]();
  t.notOk(existsSync(join(root, 'info.json')));
});

t.test('a second session on the same control files is refused with the pid of the first', async (t) => {
  const root = t.testdir();
  const first = await other(t, root);
  t.equal(first.said, 'open');
  const place = await findControlPlace(root, {});
  const token = readFileSync(place.token, 'utf8');
  await t.rejects(opened(root), {
    code: 'CONTROL_INSTANCE_CONFLICT',
    exitCode: 128,
    detail: { pid: first.pid, base_url: 'http://127.0.0.1:4321' },
  });
  for (const files of [{ tokenFile: join(root, 'own') }, { infoFile: join(root, 'own') }])
    await t.rejects(
      opened(root, 'write', files),
      { code: 'CONTROL_INSTANCE_CONFLICT' },
      JSON.stringify(files),
    );
  await t.rejects(opened(root, 'observe', { infoFile: place.info }), { code: 'CONTROL_INSTANCE_CONFLICT' });
  t.equal(readFileSync(place.token, 'utf8'), token, 'and has changed nothing');
  const { control } = await opened(root, 'write', {
    tokenFile: join(root, 'my-token'),
    infoFile: join(root, 'my.json'),
  });
  t.not(control.token, token, 'with files of its own it has its own');
  await control[Symbol.asyncDispose]();
  await first.end();
  t.notOk(existsSync(place.token) || existsSync(place.info));
  t.ok(existsSync(place.infoLock), 'the lock is not unlinked');
});

t.test('the control files of a killed session are replaced by the next session', async (t) => {
  const root = t.testdir();
  const killed = await other(t, root);
  await killed.end('SIGKILL');
  const place = await findControlPlace(root, {});
  const left = readFileSync(place.token, 'utf8');
  t.equal(JSON.parse(readFileSync(place.info, 'utf8')).pid, killed.pid);
  const { control } = await opened(root);
  t.not(readFileSync(place.token, 'utf8'), left);
  t.notOk(existsSync(place.info), 'nobody is sent to a dead address');
  await control[Symbol.asyncDispose]();
  // Another process with that pid is not the one that had the lock.
  const lock = JSON.parse(readFileSync(place.infoLock, 'utf8'));
  writeFileSync(place.infoLock, JSON.stringify({ ...lock, pid: process.ppid, started: '1' }));
  const next = await other(t, root);
  t.equal(next.said, 'open', 'a younger process has its pid');
  await next.end();
});

t.test('an unsafe token file stops the session and is left unchanged', async (t) => {
  const root = t.testdir({ outside: 'x' });
  const place = await findControlPlace(root, {});
  const outside = join(root, 'outside');
  mkdirSync(place.directory, { recursive: true });
  const kinds: readonly (readonly [string, () => void])[] = [
    ['a link', () => symlinkSync(outside, place.token)],
    ['a link to nowhere', () => symlinkSync(join(root, 'nowhere'), place.token)],
    ['a directory', () => mkdirSync(place.token)],
    ['readable by others', () => writeFileSync(place.token, 'x'.repeat(43), { mode: 0o644 })],
    ['executable', () => writeFileSync(place.token, 'x'.repeat(43), { mode: 0o700 })],
    ['a key', () => writeFileSync(place.token, 'a password of somebody', { mode: 0o600 })],
  ];
  for (const [what, make] of kinds) {
    make();
    const before = lstatSync(place.token);
    await t.rejects(opened(root), { code: 'PRIVATE_FILE_UNSAFE', exitCode: 128 }, what);
    t.equal(lstatSync(place.token).ino, before.ino, `${what}: it stands as it was`);
    rmSync(place.token, { recursive: true });
  }
  writeFileSync(place.token, '', { mode: 0o600 });
  const { control } = await opened(root);
  t.equal(readFileSync(place.token, 'utf8'), control.token, 'one that was made beforehand is used');
  await control[Symbol.asyncDispose]();
  t.equal(readFileSync(outside, 'utf8'), 'x');
});

t.test('a discovery file does not overwrite another file', async (t) => {
  const root = t.testdir({ 'package.json': '{}' });
  chmodSync(join(root, 'package.json'), 0o600);
  const files = { infoFile: join(root, 'package.json') };
  await t.rejects(opened(root, 'observe', files), { code: 'PRIVATE_FILE_UNSAFE' });
  t.equal(readFileSync(files.infoFile, 'utf8'), '{}');
  await t.rejects(findControlPlace(root, { tokenFile: 'a', infoFile: './a' }), { code: 'USAGE' });
  await t.rejects(findControlPlace(root, { tokenFile: 'a', infoFile: 'a.lock' }), { code: 'USAGE' });
});

t.test('the end of a session removes only control files that it still owns', async (t) => {
  const root = t.testdir();
  const { place, control } = await opened(root);
  await control.publish({ baseUrl: 'http://127.0.0.1:1' });
  const others = 'y'.repeat(43);
  writeFileSync(place.token, others);
  writeFileSync(place.info, '{}');
  await control[Symbol.asyncDispose]();
  t.strictSame(
    [place.token, place.info].map((path) => readFileSync(path, 'utf8')),
    [others, '{}'],
  );
});
