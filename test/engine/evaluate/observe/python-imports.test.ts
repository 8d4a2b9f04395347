import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { placeImportHook } from '../../../../engine/evaluate/observe/under-tracer.ts';
import { outputOf } from '../../../starter/run-program.ts';

for (const variable of ['PYTHONPATH', 'PYTHONUSERBASE'] as const)
  t.test(`a hook found by ${variable} leaves modules and their path as the project has them`, async (t) => {
    const place = mkdtempSync(join(tmpdir(), 'writ-hook-'));
    t.teardown(() => rmSync(place, { recursive: true, force: true }));
    const own = join(place, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'sitecustomize.py'), "print('own')\n");
    const { binds, env } = await placeImportHook(place, [own]);
    const [{ source, target } = { source: '', target: '' }] = binds;
    const text =
      'import sys, importlib.machinery as found; print(sys.path); print(hasattr(found.FileFinder, "find_unobserved"))';
    const run = (path: readonly string[], base: string) =>
      String(
        outputOf('python3', ['-c', text], {
          env: {
            PATH: process.env.PATH ?? '',
            HOME: place,
            PYTHONPATH: path.join(':'),
            PYTHONUSERBASE: base,
          },
        }),
      );
    const given = env[variable]?.replace(target, source) ?? '';
    const hooked = variable === 'PYTHONPATH' ? run([given, own], place) : run([own], given);
    const plain = run([own], place);
    t.match(plain, /^own\n/);
    t.equal(hooked, plain.replace('False', 'True'));
  });
