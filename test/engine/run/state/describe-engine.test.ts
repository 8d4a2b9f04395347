import { execFileSync } from 'node:child_process';
import t from 'tap';
import { describeEngine } from '../../../../engine/run/state/describe-engine.ts';

t.test('the engine is described by the digest that anybody can take with sha256sum', async (t) => {
  const find =
    "find api attest bin core engine gates plugins providers readers -type f \\( -name '*.ts' -o -name '*.js' \\) ! -name '*.d.ts' 2>/dev/null";
  const found = execFileSync('/bin/sh', ['-c', `${find} | LC_ALL=C sort | xargs sha256sum | sha256sum`], {
    encoding: 'utf8',
  });
  t.same(await describeEngine('0.1.0'), {
    name: 'writ',
    uri: 'pkg:npm/writ@0.1.0',
    digest: { sha256: found.slice(0, 64) },
  });
});
