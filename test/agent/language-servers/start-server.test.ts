import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { startServer } from '../../../agent/language-servers/start-server.ts';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { server } from './fake-server.ts';

const inside = '/workspace';

/** Starts a server that may load from `node_modules`, of which `lay` says what the change has put there. */
async function started(t: Test, lay: (workspace: string, elsewhere: string) => void) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-start-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const [workspace, elsewhere, source] = ['workspace', 'elsewhere', 'source'].map((name) => join(root, name));
  if (!workspace || !elsewhere || !source) throw new Error('three places');
  for (const place of [workspace, elsewhere, source]) mkdirSync(place);
  lay(workspace, elsewhere);
  const asked: SandboxRequest[] = [];
  const sandbox = {
    pathsInside: () => ({ workspace: inside }),
    run: (request: SandboxRequest) => {
      asked.push(request);
      request.talk?.({ input: new PassThrough(), output: new PassThrough() });
      return new Promise((resolve) =>
        request.signal?.addEventListener('abort', () =>
          resolve({ exitCode: 0, stderr: { bytes: Buffer.alloc(0) } }),
        ),
      );
    },
  };
  const run = {
    environment: { sandbox, config: parseConfig(undefined, sealingForms) },
    services: { signal: new AbortController().signal },
  };
  const provided = [{ directory: 'node_modules', source }];
  const place = { workspace, stubs: async () => [] };
  const found = { server, argv: ['server'], from: undefined };
  const one = await startServer(run as never, place as never, found as never, provided as never, []);
  await one[Symbol.asyncDispose]();
  return asked[0]?.binds?.map(({ target }) => target) ?? [];
}

t.test('bound directories are mounted where nothing or an empty directory is in the way', async (t) => {
  const laid = [inside, `${inside}/node_modules`];
  t.strictSame(await started(t, () => {}), laid);
  t.strictSame(await started(t, (workspace) => mkdirSync(join(workspace, 'node_modules'))), laid);
});

t.test('bound directories are not mounted over files or through symlinks of the change', async (t) => {
  const ways: readonly ((workspace: string, elsewhere: string) => void)[] = [
    (workspace) => writeFileSync(join(workspace, 'node_modules'), ''),
    (workspace, elsewhere) => symlinkSync(elsewhere, join(workspace, 'node_modules')),
    (workspace) => {
      mkdirSync(join(workspace, 'node_modules'));
      writeFileSync(join(workspace, 'node_modules/own.js'), '');
    },
  ];
  for (const lay of ways) t.strictSame(await started(t, lay), [inside]);
});
