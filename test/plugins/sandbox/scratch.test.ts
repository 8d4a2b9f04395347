import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { openScene, outputOf } from './sandbox-scene.ts';

const write = `
for path in node_modules/.vite-temp/config.mjs node_modules/.cache/x target/debug/app; do
  mkdir -p "\${path%/*}" && echo made >"$path" || echo "no $path"
done
echo changed >node_modules/a/index.js; rm -r node_modules/b; mv node_modules/c node_modules/d
cat node_modules/a/index.js target/debug/app; ls -A node_modules`;

for (const [name, make] of Object.entries({ bubblewrap: bubblewrapSandbox, unshare: unshareSandbox })) {
  t.test(`in ${name}, what is written to a scratch is seen by its command and by no one else`, async (t) => {
    const scene = openScene(t);
    const backend = make(scene.facts);
    if (!(await backend.probe()).works) return;
    const shared = path.join(scene.root, 'shared');
    for (const part of ['node_modules/a', 'node_modules/b', 'node_modules/c', 'target'])
      mkdirSync(path.join(shared, part), { recursive: true });
    writeFileSync(path.join(shared, 'node_modules/a/index.js'), 'original\n');
    const bind = (directory: string, scratch = true): SandboxRequest['binds'][number] => ({
      source: path.join(shared, directory),
      target: `/workspace/${directory}`,
      writable: false,
      ...(scratch ? { scratch } : {}),
    });
    const binds = [bind('node_modules'), bind('target')];
    const first = await scene.run(backend, write, { binds });
    t.equal(first.stderr.bytes.toString(), '');
    t.strictSame(outputOf(first).split('\n'), ['changed', 'made', '.cache', '.vite-temp', 'a', 'd']);

    const second = await scene.run(backend, 'cat node_modules/a/index.js; ls -A node_modules target', {
      binds,
    });
    t.strictSame(outputOf(second).split('\n'), ['original', 'node_modules:', 'a', 'b', 'c', '', 'target:']);
    t.strictSame(readdirSync(path.join(shared, 'node_modules')), ['a', 'b', 'c']);
    t.equal(readFileSync(path.join(shared, 'node_modules/a/index.js'), 'utf8'), 'original\n');
    t.strictSame(
      readdirSync(scene.root).sort(),
      ['home', 'reports', 'shared', 'workspace'],
      'no scratch is left',
    );

    const readOnly = 'touch node_modules/x || echo refused';
    const without = await scene.run(backend, readOnly, { binds: [bind('node_modules', false)] });
    t.equal(outputOf(without), 'refused');
    const odd = path.join(scene.root, 'a,b');
    mkdirSync(odd);
    const inOdd = { source: odd, target: '/workspace/node_modules', writable: false, scratch: true } as const;
    t.equal(
      outputOf(await scene.run(backend, readOnly, { binds: [inOdd] })),
      'refused',
      'no overlay can name it',
    );
  });
}
