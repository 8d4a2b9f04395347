import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { parseConfig } from '../../../engine/config/config.ts';

const digest = `sha256:${'0a'.repeat(32)}`;
const parse = (text: string) => parseConfig(Buffer.from(text), sealingForms);
const issue = (path: string) => ({ code: 'CONFIG_INVALID', detail: { issues: [{ path }] } });

t.test('lists plugins in order with their pinned digests', async (t) => {
  const text = `[[plugins]]\npath = "tools/a"\ndigest = "${digest}"\n[[plugins]]\npackage = "@scope/b"\ndigest = "${digest}"\n`;
  t.strictSame(parse(text).plugins, [
    { kind: 'path', place: 'tools/a', digest: '0a'.repeat(32) },
    { kind: 'package', place: '@scope/b', digest: '0a'.repeat(32) },
  ]);
  t.strictSame(parseConfig(undefined, sealingForms).plugins, []);
});

t.test('refuses plugins that are not pinned or whose place is unsafe', async (t) => {
  const list =
    (entry: string, more = `digest = "${digest}"`) =>
    () =>
      parse(`[[plugins]]\n${entry}\n${more}\n`);
  t.throws(list('path = "tools/a"', ''), issue('plugins[0].digest'));
  t.throws(list('path = "tools/a"', 'digest = "0a0a"'), issue('plugins[0].digest'));
  t.throws(list('path = "tools/a"', `digest = "${digest.toUpperCase()}"`), issue('plugins[0].digest'));
  for (const path of ['/etc', '../a', 'a/../b', '.git/a', '.writ/a', '~/a'])
    t.throws(list(`path = "${path}"`), issue('plugins[0].path'), path);
  for (const name of ['../a', 'Upper', '@/x', 'a b'])
    t.throws(list(`package = "${name}"`), issue('plugins[0].package'), name);
  t.throws(list(''), issue('plugins[0]'));
  t.throws(list('path = "a"\npackage = "a"'), issue('plugins[0]'));
  t.throws(list('path = "a"\ntrusted = true'), issue('plugins[0].trusted'));
  const twice = `[[plugins]]\npath = "a"\ndigest = "${digest}"\n`;
  t.throws(() => parse(`${twice}${twice}`), issue('plugins'));
  t.throws(() => parse(twice.repeat(40)), { code: 'CONFIG_INVALID' });
});

t.test('a policy table needs an engine and safe file paths', async (t) => {
  const text = '[policy.release]\nengine = "cedar"\nfiles = ["policies/a.cedar", ".writ/policies/b.cedar"]\n';
  t.strictSame(
    [...parse(text).policies],
    [
      [
        'release',
        { engine: 'cedar', files: ['policies/a.cedar', '.writ/policies/b.cedar'], stage: 'release' },
      ],
    ],
  );
  const bad: Record<string, string> = {
    'policy.a.engine': '[policy.a]\nfiles = ["x"]\n',
    'policy.a.files': '[policy.a]\nengine = "cedar"\n',
    'policy.a.files[0]': '[policy.a]\nengine = "cedar"\nfiles = ["../x"]\n',
    'policy.a.mode': '[policy.a]\nengine = "cedar"\nfiles = ["x"]\nmode = "lax"\n',
    'policy."a b"': '[policy."a b"]\nengine = "cedar"\nfiles = ["x"]\n',
  };
  for (const [path, toml] of Object.entries(bad)) t.throws(() => parse(toml), issue(path), path);
  for (const path of ['.writ/config.toml', '.writ/policies/../x', '.git/x'])
    t.throws(
      () => parse(`[policy.a]\nengine = "cedar"\nfiles = ["${path}"]\n`),
      issue('policy.a.files[0]'),
      path,
    );
});
