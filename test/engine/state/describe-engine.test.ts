import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { describeEngine } from '../../../engine/state/machine.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

t.test('the digest of the engine is the one that sha256sum computes over its files', async (t) => {
  const folders = 'agent api attest bin core engine gates plugins providers readers spec store workspace';
  const find = `find ${folders} -type f \\( -name '*.ts' -o -name '*.js' \\) ! -name '*.d.ts' 2>/dev/null`;
  const lines = execFileSync('/bin/sh', ['-c', `${find} | LC_ALL=C sort | xargs sha256sum`], {
    // A room of tests stands in a directory of its own.
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 8 * 1024 * 1024,
  });
  // Says which file it was, should the digest below differ.
  t.strictSame(
    lines
      .trim()
      .split('\n')
      .map((line) => line.slice(66)),
    globSync(`{${folders.replaceAll(' ', ',')}}/**/*.{ts,js}`, { cwd: root })
      .filter((path) => !path.endsWith('.d.ts'))
      .sort(),
  );
  t.same(await describeEngine('0.1.0'), {
    name: 'writ',
    uri: 'pkg:npm/writ@0.1.0',
    digest: { sha256: sha256Hex(lines) },
  });
});
