import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { createFootprintReader } from '../../../readers/trace/read-trace.ts';
import { openScene, processesWith } from './sandbox-scene.ts';

const skip =
  spawnSync('strace', ['--seccomp-bpf', '-f', 'true']).status === 0 ? false : 'strace cannot trace here';

for (const make of [bubblewrapSandbox, unshareSandbox]) {
  const { name } = make();
  t.test(
    `${name}: a traced command says what it looked for, and ends as an untraced one`,
    { skip },
    async (t) => {
      const scene = openScene(t);
      const backend = make(scene.facts);
      t.strictSame(await backend.probeTracer?.(), { works: true });
      const traceTo = join(scene.root, 'trace');
      const script = '[ -f ci/env.sh ] && . ci/env.sh; cat "$0" >/dev/null; ls . >/dev/null; exit 3';
      const result = await scene.run(backend, script, { traceTo });
      t.equal(result.exitCode, 3, result.stderr.bytes.toString());
      const { workspace } = backend.pathsInside(scene);
      const reader = createFootprintReader('/');
      for (const line of readFileSync(traceTo, 'utf8').split('\n')) reader.read(line);
      t.ok(reader.footprint().missing.includes(`${workspace}/ci/env.sh`));
      t.ok(reader.footprint().listed.includes(workspace));
    },
  );

  t.test(`${name}: a traced command that is stopped leaves no process`, { skip }, async (t) => {
    const scene = openScene(t);
    const mark = `traced-${name}-${process.pid}`;
    const stop = new AbortController();
    const heard = (chunk: Uint8Array): void => {
      if (chunk.length > 0) stop.abort();
    };
    const result = await scene.run(make(scene.facts), `echo started; sleep 1000; : ${mark}`, {
      traceTo: join(scene.root, 'trace'),
      signal: stop.signal,
      heard,
    });
    t.ok(result.aborted);
    t.strictSame(processesWith(mark), []);
  });
}
