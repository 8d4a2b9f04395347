import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { editOutside } from '../../../bin/code/edit-outside.ts';

t.test('`editOutside` returns the edited text, or reports why the editor failed', async (t) => {
  const cwd = t.testdir();
  const { PATH } = process.env;
  const editor = (name: string, script: string): string => {
    const path = join(cwd, name);
    writeFileSync(path, `#!/bin/sh\nfor file; do :; done\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const edit = (env: Readonly<Record<string, string>>) =>
    editOutside('text', { cwd, env: { PATH: PATH ?? '', ...env } });
  const words = editor('words', 'printf " %s" "$1" >> "$file"');
  t.equal(await edit({ EDITOR: `${words} --wait` }), 'text --wait', 'arguments of its own');
  t.equal(await edit({ VISUAL: `${words} -x`, EDITOR: 'no-such-editor' }), 'text -x', 'VISUAL comes first');
  await t.rejects(edit({ EDITOR: editor('fails', 'exit 3') }), {
    code: 'SPAWN_FAILED',
    message: /ended with 3; the text is as it was/,
  });
  await t.rejects(edit({ EDITOR: editor('removes', 'rm "$file"') }), {
    code: 'SPAWN_FAILED',
    message: /left no file/,
  });
  await t.rejects(edit({ EDITOR: 'no-such-editor' }), {
    code: 'SPAWN_FAILED',
    message: /`no-such-editor` could not be started/,
    hints: ['`VISUAL` or `EDITOR` names another one'],
  });
});
