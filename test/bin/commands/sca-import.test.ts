import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const tiny = fileURLToPath(new URL('../../../fixtures/advisories/tiny.json', import.meta.url));

t.test('`sca import` stores advisories and counts them', async (t) => {
  const env = { HOME: t.testdir({}) };
  const { code, out } = await runLine(['--json', 'sca', 'import', tiny], commands, { env });
  const { data } = JSON.parse(out);
  t.equal(code, 0);
  t.strictSame(faultsOf('sca import', data), []);
  t.match(data, {
    advisories: 9,
    withdrawn: 1,
    skipped: 1,
    other_ecosystems: [{ name: 'Debian', records: 1 }],
  });
  t.equal(data.directory, join(env.HOME, '.local/share/writ/advisories'));
  const again = await runLine(['sca', 'import', tiny], commands, { env });
  t.match(again.out, '9 advisories are kept');
  t.match(again.out, `sha256:${data.digest.slice(7)}`, 'the same content has the same digest');
});

t.test('`sca import` refuses a file without advisories', async (t) => {
  const cwd = t.testdir({ 'none.json': '{}' });
  const env = { HOME: cwd };
  t.equal((await runLine(['sca', 'import', 'none.json'], commands, { env, cwd })).code, 129);
  t.equal((await runLine(['sca', 'import', 'nowhere'], commands, { env, cwd })).code, 129);
  t.equal((await runLine(['sca', 'import'], commands, { env, cwd })).code, 129);
});
