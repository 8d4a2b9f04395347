import { once } from 'node:events';
import { chmodSync, realpathSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { codexWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { type Json, makeSample } from '../../engine/sample.ts';

/** Where the model is: outside, on this machine's own loopback. */
const listening = createServer().listen(0, '127.0.0.1');
await once(listening, 'listening');
t.teardown(() => listening.close());
const { port } = listening.address() as AddressInfo;

/** A run of the sample with a program of our own in place of Codex. */
async function runWith(
  t: Test,
  script: string,
  {
    spec = {},
    sandbox = 'auto',
    canary = 'a-key',
  }: { readonly spec?: Json; readonly sandbox?: string; readonly canary?: string } = {},
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const program = join(realpathSync(t.testdir()), 'fake-codex');
  writeFileSync(program, `#!/usr/bin/env node\n${script}\n`);
  chmodSync(program, 0o755);
  const from = formatModelChoice({
    provider: 'codex',
    model: 'scripted',
    apiBase: `http://127.0.0.1:${port}`,
    flags: { 'codex-bin': program },
  });
  const reach = reachProvider({ variable: () => undefined, keys: { environment: () => canary } });
  const view = await sample.run(
    { source: { kind: 'worker', worker: codexWorker, from }, reach, sandbox },
    spec,
  );
  return { view, sample };
}

/** What a server says to each message; `told` runs when its turn begins. */
const server = (told: string) => `
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const over = { method: 'turn/completed', params: { turn: { id: 'u', status: 'completed' } } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: {} });
  if (method === 'thread/start') say({ id, result: { thread: { id: 't' }, approvalPolicy: 'untrusted' } });
  if (method === 'turn/start') { say({ id, result: { turn: { id: 'u' } } }); ${told} }
  if (method === undefined && result) answered(result);
});
function answered() {}`;

t.test('a program that floods its host is stopped with a broken reply', async (t) => {
  const flood = "const part = 'x'.repeat(1 << 20); const go = () => process.stdout.write(part, go); go();";
  await t.rejects(runWith(t, server(flood)), {
    code: 'PROVIDER_FAILED',
    detail: { kind: 'broken-reply' },
    message: /a line of more than/,
  });
});

long('a program that exits before its requests are answered is reported as ended', async (t) => {
  const ask = `
    for (let id = 0; id < 100; id += 1)
      say({ id: 'q' + id, method: 'item/commandExecution/requestApproval',
        params: { threadId: 't', turnId: 'u', itemId: 'i' + id, kind: 'command', command: 'echo ' + id, cwd: '/workspace' } });
    process.stdout.write('', () => process.exit(3));`;
  await t.rejects(runWith(t, server(ask)), { code: 'PROVIDER_FAILED', message: /ended with 3/ });
});

long('a hostile program finds no key, no user files, no network and no way out', async (t) => {
  const outside = ['.ssh', '.codex', '.config', '.cache'].map((name) =>
    JSON.stringify(join(homedir(), name)),
  );
  const look = `
    const fs = require('node:fs'), net = require('node:net');
    const found = Object.keys(process.env).filter((name) => process.env[name].includes('canary'));
    const reads = [${outside}, '/etc/shadow'];
    for (const path of reads) try { fs.readdirSync(path); found.push(path); } catch {}
    for (const path of reads) try { fs.readFileSync(path); found.push(path); } catch {}
    for (const path of ['/agent/x', '/agent-home/config.toml', '/workspace/.git/config', '/etc/x', '/usr/x'])
      try { fs.writeFileSync(path, 'x'); found.push(path); } catch {}
    const config = fs.readFileSync(process.env.CODEX_HOME + '/config.toml', 'utf8');
    if (!config.includes('web_search = "disabled"')) found.push('other settings');
    const end = () => {
      const price = fs.readFileSync('/workspace/src/price.js', 'utf8').replace('cents + 1', 'cents');
      fs.writeFileSync('/workspace/src/price.js', price + '// found: ' + JSON.stringify(found) + '\\n');
      const test = "\\ntest('two', () => { assert.equal(price(2, 100), 200); });\\n";
      fs.appendFileSync('/workspace/test/price.test.js', test);
      say(over);
    };
    const direct = net.connect(${port}, '127.0.0.1');
    direct.on('connect', () => { found.push('the model itself'); end(); }).on('error', end);`;
  const { view, sample } = await runWith(t, server(look), { canary: 'sk-canary-0123456789' });
  t.match(view, { decision: { type: 'commit' } });
  t.match(sample.git('show', 'HEAD:src/price.js'), 'found: []');
});

/** What a process gets hold of in another of its user, as Python: the calls have no program of their own. */
const seize = `
import ctypes, os, sys
libc, got = ctypes.CDLL(None), []
pid, x64 = int(sys.argv[1]), os.uname().machine == 'x86_64'
class Part(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
for target in (pid, 1):
    if libc.syscall(438, libc.syscall(434, target, 0), 1, 0) >= 0: got.append('a descriptor')
held = ctypes.create_string_buffer(8)
ours = Part(ctypes.addressof(held), 8)
start = next(int(line.split('-')[0], 16) for line in open(f'/proc/{pid}/maps') if '[heap]' in line)
theirs = Part(start, 8)
for name, number in (('read', 310 if x64 else 270), ('write', 311 if x64 else 271)):
    if libc.syscall(number, pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, ctypes.c_ulong(0)) > 0: got.append(name)
if libc.ptrace(0x4206, pid, 0, 0) == 0: got.append('all of it')
for place in (f'/proc/{pid}/fd/0', '/proc/1/fd/0', '/proc/1/fd/1', f'/proc/{pid}/mem'):
    try: got.append(place if open(place, 'r+b') else '')
    except OSError: pass
print(got)`;

import { long } from '../../rooms/long.ts';

const python = findProgram('python3', process.env.PATH ?? '');

t.test(
  'a command cannot take over its agent or the connection of the agent',
  { skip: python === undefined && 'there is no python3' },
  async (t) => {
    const act = `
    require('node:child_process').execFile('python3', ['-I', '-c', ${JSON.stringify(seize)}, process.pid], (fault, out) => {
      const name = String(fault ?? out).replace(/[^a-z]+/gi, '-').slice(0, 200);
      require('node:fs').writeFileSync('/workspace/src/got' + name, 'x');
      say(over);
    });`;
    const { view } = await runWith(t, server(act), {
      spec: { acceptance: { verificationPlan: { fastChecks: [] } } },
    });
    t.same(
      view.patch?.files.map(({ path }) => path),
      ['src/got-'],
    );
  },
);

long('a command is declined under a rule whose bounds cannot be enforced', async (t) => {
  const asks = `say({ id: 'a', method: 'item/commandExecution/requestApproval', params: {
      itemId: 'i', kind: 'command', command: "/bin/bash -lc 'echo x'", cwd: '/workspace' } });`;
  const answers = `answered = ({ decision }) => { require('node:fs').writeFileSync('/workspace/src/' + decision, 'x'); say(over); };`;
  for (const [constraints, decision] of [
    [{}, 'accept'],
    [{ maxOutputBytes: 1000 }, 'decline'],
    [{ writeRoots: ['src'] }, 'decline'],
  ] as const) {
    const allow = [
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: { allowCommands: ['echo', 'node'], ...constraints },
      },
    ];
    const { view } = await runWith(t, `${server(asks)}\n${answers}`, {
      spec: {
        security: { toolAcl: { allow } },
        acceptance: { verificationPlan: { fastChecks: [] } },
      },
    });
    t.same(
      view.patch?.files.map(({ path }) => path),
      [`src/${decision}`],
      JSON.stringify(constraints),
    );
  }
});

t.test('without a sandbox an autonomous program is refused', async (t) => {
  await t.rejects(
    runWith(t, server('say(over);'), {
      sandbox: 'none',
      spec: { constraints: { security: { networkPolicy: 'allow' } } },
    }),
    { code: 'SANDBOX_NONE_REFUSED' },
  );
});
