import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { requireApart, tryToApprove } from '../../../session/self-test.ts';
import { pickSandbox } from '../../../workspace/process/version-control.ts';
import { makeSample } from '../../engine/sample.ts';

const never = new AbortController().signal;

/** Something that approves: a port of this machine, and a token. */
async function places(t: { teardown(done: () => void): void }) {
  const server = createServer((_request, response) => response.end('{"sessionId":"s"}'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const directory = mkdtempSync(join(tmpdir(), 'writ-test-'));
  const token = join(directory, 'control-token');
  writeFileSync(token, 'secret', { mode: 0o600 });
  t.teardown(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { ports: [(server.address() as AddressInfo).port], paths: [token, directory] };
}

t.test('a sandboxed command reaches no port or token that could approve it', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const backend = await pickSandbox('auto', engine.slots.sandbox);
  const tested = await tryToApprove(backend, await places(t), never);
  t.strictSame(tested, { isTried: true, reached: [] });
  t.doesNotThrow(() => requireApart('allow', tested));
});

t.test('a leaky sandbox is detected and refused where the network is allowed', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const none = await pickSandbox('none', engine.slots.sandbox);
  // It says that it confines, and does not.
  const { unconfined: _, ...rest } = none;
  const leaky: SandboxBackend = { ...rest, run: (request) => none.run({ ...request, network: 'host' }) };
  const at = await places(t);
  const tested = await tryToApprove(leaky, at, never);
  t.equal(tested.isTried, true);
  for (const found of [`connect 127.0.0.1:${at.ports[0]}`, `read ${at.paths[0]}`, `list ${at.paths[1]}`])
    t.ok(tested.reached.includes(found), found);
  t.throws(() => requireApart('allow', tested), { code: 'SELF_APPROVAL_POSSIBLE' });
  t.doesNotThrow(() => requireApart('deny', tested), 'without a network it is told, and no more');
  t.throws(() => requireApart('allow', { isTried: false, reached: [] }), { code: 'SELF_APPROVAL_POSSIBLE' });
  t.match(await tryToApprove(none, at, never), { reached: [/everything/] });
});
