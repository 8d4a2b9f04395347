import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty } from './open-terminal-scene.ts';

long('Ctrl+C in the external editor does not reach writ', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  const editor = join(code.sample.home, 'editor');
  writeFileSync(
    editor,
    // A shell that is interrupted while it reads gives up reading, or not: as it likes.
    '#!/bin/sh\ntrap "echo interrupted" INT\necho editing\nuntil read line; do :; done\necho "$line" > "$1"\n',
  );
  chmodSync(editor, 0o755);
  await using scene = code.startIn({ OPENAI_API_KEY: 'sk-planted-0123456789', EDITOR: editor });
  await scene.until('ready');
  scene.type('before');
  scene.press('ctrl+g');
  await scene.until('editing');
  scene.press('ctrl+c');
  await scene.until('interrupted');
  scene.type('after\r');
  await scene.until('ready');
  scene.press('ctrl+c', 'ctrl+c', 'ctrl+c');
  t.equal((await scene.exited).exitCode, 0);
  t.notMatch(scene.lines().join('\n'), /RUN_INTERRUPTED/);
});
