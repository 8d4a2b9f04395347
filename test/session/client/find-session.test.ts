import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { findSession, type SessionSought } from '../../../session/client/find-session.ts';
import { type ControlFiles, findControlPlace, openControl } from '../../../session/client/open-control.ts';

const baseUrl = 'http://127.0.0.1:4321';

async function controlled(t: Test, root: string, mode: 'observe' | 'write', files: ControlFiles = {}) {
  const place = await findControlPlace(root, files);
  const control = await openControl({ mode, place, workingDir: root, clock: systemClock });
  t.teardown(() => control[Symbol.asyncDispose]());
  await control.publish({ baseUrl });
  return { place, control };
}

const seek = async (root: string, more: Partial<SessionSought> = {}) => {
  const { isThere: _, ...found } = await findSession({ root: async () => root, ...more });
  return found;
};

t.test('`findSession` returns the address and token of a running session until it ends', async (t) => {
  const root = t.testdir();
  const none = { code: 'SESSION_NOT_RUNNING', exitCode: 1 };
  await t.rejects(seek(root), { ...none, detail: { state: 'stopped' } });
  const { place, control } = await controlled(t, root, 'write');
  t.strictSame(await seek(root), { baseUrl, token: control.token });
  rmSync(place.token);
  t.strictSame(await seek(root), { baseUrl }, 'without its token it can be looked at');
  await control[Symbol.asyncDispose]();
  await t.rejects(seek(root), none);
  // What a killed one leaves: anybody may listen where it did.
  const left = { version: 1, mode: 'write', pid: 1, baseUrl, workingDir: root, startedAt: 'then' };
  writeFileSync(place.info, JSON.stringify(left), { mode: 0o600 });
  await t.rejects(seek(root), { ...none, detail: { state: 'stale' } });
});

t.test('`isThere` is true while a session runs at the address that was found', async (t) => {
  const root = t.testdir();
  const first = await controlled(t, root, 'write');
  const { isThere } = await findSession({ root: async () => root });
  t.equal(await isThere?.(), true);
  await first.control[Symbol.asyncDispose]();
  t.equal(await isThere?.(), false, 'it ended');
  const next = await controlled(t, root, 'write');
  t.equal(await isThere?.(), true, 'another one is there');
  await next.control.publish({ baseUrl: 'http://127.0.0.1:4322' });
  t.equal(await isThere?.(), false, 'elsewhere');
  const left = { version: 1, mode: 'write', pid: 1, baseUrl, workingDir: root, startedAt: 'then' };
  writeFileSync(next.place.info, JSON.stringify(left), { mode: 0o600 });
  t.equal(await isThere?.(), false, 'killed');
});

t.test('a token is returned only for the session that it belongs to', async (t) => {
  const root = t.testdir();
  const { control, place } = await controlled(t, root, 'write');
  const files = { tokenFile: join(root, 'token'), infoFile: join(root, 'info.json') };
  const other = await controlled(t, root, 'write', files);
  t.strictSame(await seek(root, { infoFile: files.infoFile }), { baseUrl });
  t.strictSame(await seek(root, files), { baseUrl, token: other.control.token });
  t.strictSame(await seek(root, { url: 'http://[::1]:1/' }), { baseUrl: 'http://[::1]:1' });
  const named = { url: baseUrl, tokenFile: place.token };
  t.strictSame(await seek(root, named), { baseUrl, token: control.token });
});

t.test('an unsafe URL, token file or discovery file is refused', async (t) => {
  const root = t.testdir({ link: {} });
  const { place, control } = await controlled(t, root, 'write');
  for (const url of [
    'http://localhost:1',
    'http://10.0.0.1:1',
    'https://127.0.0.1:1',
    'http://127.0.0.1:1/x',
    'http://127.0.0.1:65536',
    'x',
  ])
    await t.rejects(seek(root, { url, tokenFile: place.token }), { code: 'USAGE', exitCode: 129 }, url);
  const unsafe = { code: 'PRIVATE_FILE_UNSAFE' };
  const own = join(root, 'own');
  writeFileSync(own, 'no token', { mode: 0o600 });
  await t.rejects(seek(root, { tokenFile: own }), unsafe);
  await t.rejects(seek(root, { tokenFile: join(root, 'nothing') }), unsafe);
  writeFileSync(own, `${control.token}\n`);
  t.strictSame(await seek(root, { tokenFile: own }), { baseUrl, token: control.token });
  chmodSync(own, 0o644);
  await t.rejects(seek(root, { tokenFile: own }), unsafe);
  rmSync(place.info);
  writeFileSync(own, '{}', { mode: 0o600 });
  symlinkSync(own, place.info);
  await t.rejects(seek(root), unsafe);
});
