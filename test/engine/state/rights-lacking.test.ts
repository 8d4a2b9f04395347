import t from 'tap';
import { rightsLacking } from '../../../engine/state/approval-rights.ts';
import { sampleSpecWith } from '../../../testing.ts';

t.test('a spec that denies a model reading or writing files is reported', (t) => {
  const lacking = (...actions: readonly string[]) =>
    rightsLacking(
      sampleSpecWith({
        security: { toolAcl: { allow: [{ tool: 'workspace.fs', actions: [...actions], constraints: {} }] } },
      }),
    );
  t.strictSame(lacking('read', 'write'), []);
  t.match(lacking('write'), [/lets it `read` of `workspace\.fs`:/]);
  t.match(lacking('read'), [/lets it `write` of `workspace\.fs`:/]);
  t.match(lacking(), [/lets it `read` of `workspace\.fs` and `write` of `workspace\.fs`:/]);
  t.end();
});
