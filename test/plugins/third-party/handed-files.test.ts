import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { userPluginAccess } from '../../../api/user-plugins.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { parse } from '../../../core/base/schema.ts';
import { needsShape } from '../../../plugins/third-party/manifest-parts.ts';
import { valuesFor } from '../../../plugins/third-party/parts/outside-evidence.ts';
import { withoutHanded } from '../../../plugins/third-party/process/plugin-fault.ts';

function home(t: Test, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-home-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(root, path), text, { mode: 0o600 });
  }
  return root;
}

t.test('a manifest may not request key or vault files of writ', async (t) => {
  const own = [
    '~/.config/writ/keys/signing.pem',
    '~/.config/writ/vault/identity.txt',
    '~/.Config//WRIT/keys/signing.pem',
    '~/.local/share/writ/x',
    '~/.local/state/writ/x',
    '~/.cache/writ/x',
    '~/project/.writ/vault/secrets.age',
    '~/project/.git/writ/vault/secrets.age',
  ];
  for (const path of own)
    t.throws(
      () => parse(needsShape, { files: [path] }),
      { message: /directory of writ itself/, facts: { path: ['files', 0] } },
      path,
    );
  t.strictSame(parse(needsShape, { files: ['~/.config/writer/a', '~/writ/a'] }).files, [
    '~/.config/writer/a',
    '~/writ/a',
  ]);
});

t.test('a plugin gets no file of writ, not even through a symlink', async (t) => {
  const root = home(t, {
    '.config/writ/keys/a.pem': 'key',
    'conf/writ/keys/a.pem': 'key',
    'notes/a': 'told',
  });
  symlinkSync(join(root, 'conf/writ/keys'), join(root, 'linked'));
  symlinkSync(join(root, 'notes'), join(root, 'elsewhere'));
  symlinkSync(join(root, 'conf/writ/keys/a.pem'), join(root, 'notes/link'));
  const access = userPluginAccess({ HOME: root, XDG_CONFIG_HOME: join(root, 'conf') });
  const file = async (path: string) => access.file?.(path);
  for (const path of ['~/.config/writ/keys/a.pem', '~/conf/writ/keys/a.pem', '~/linked/a.pem'])
    await t.rejects(file(path), { code: 'PLUGIN_FILE_REFUSED', detail: { path } }, path);
  await t.rejects(file('~/notes/link'), { code: 'KEY_INSECURE' });
  t.equal(await file('~/notes/a'), 'told');
  t.equal(await file('~/elsewhere/a'), 'told');
  t.equal(await file('~/notes/none'), undefined);
  t.equal(await file('~/none/none'), undefined);
});

t.test('a plugin gets no writ key through a hard link', async (t) => {
  const root = home(t, { '.config/writ/keys/a.pem': 'key', 'notes/a': 'told' });
  linkSync(join(root, '.config/writ/keys/a.pem'), join(root, 'notes/second'));
  const { file } = userPluginAccess({ HOME: root });
  const fault = await file?.('~/notes/second').catch((thrown: unknown) => thrown);
  t.ok(isWritError(fault, 'PLUGIN_FILE_REFUSED'), String(fault));
});

t.test('masks lines of handed files in the output of a plugin', async (t) => {
  const text = 'host one\nshort\npassword: hunter2hunter2\r\n  padded line\n';
  const { masked } = await valuesFor(
    { secrets: [], files: ['~/a', '~/b'] },
    {
      file: async (path) => (path === '~/a' ? text : 'tiny\n'),
    },
  );
  t.strictSame(masked, ['host one', 'password: hunter2hunter2', 'padded line', 'tiny']);
  const told = withoutHanded(`read: ${text} and password: hun, tiny, short`, masked);
  t.notMatch(told, /hunter2|padded|tiny|password/);
  t.match(told, /short$/);
});
