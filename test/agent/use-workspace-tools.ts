import type { Test } from 'tap';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { HandAnswer, HandUse } from '../../core/interfaces/worker.ts';
import { type Json, makeSample, type Sample } from '../engine/sample.ts';

export type Rule = {
  readonly tool: string;
  readonly actions: readonly string[];
  readonly constraints?: { readonly [key: string]: Json };
};

export const rule = (tool: string, actions: readonly string[], constraints: Rule['constraints'] = {}) => ({
  tool,
  actions,
  constraints,
});

/** Rules that let everything through but what the scope and the sandbox hold back. */
export const everything: readonly Rule[] = [
  rule('workspace.fs', ['read', 'write', 'delete']),
  rule('workspace.search', ['search']),
  rule('workspace.command', ['execute']),
  rule('vcs', ['read', 'write']),
];

export interface Given {
  readonly allow?: readonly Rule[];
  readonly deny?: readonly Rule[];
  /** Merged into the sample's contract. */
  readonly spec?: { readonly [key: string]: Json };
  /** Before the run, in the person's repository, whose work is committed then. */
  readonly prepare?: (sample: Sample) => void;
}

export interface Used {
  readonly view: RunView;
  readonly sample: Sample;
}

type Use = (use: HandUse) => Promise<HandAnswer>;

/** One attempt at the sample's Task, done by `work` with the hands that the engine gives a worker. */
export async function useHands(
  t: Test,
  { allow = everything, deny = [], spec = {}, prepare }: Given,
  work: (use: Use, workspace: string) => Promise<void>,
): Promise<Used> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  if (prepare) {
    prepare(sample);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Prepared');
  }
  const security = { toolAcl: { allow, deny } } as unknown as Json;
  const view = await sample.run(
    {
      worker: {
        name: 'of-the-test',
        usesModel: true,
        async work({ hands, workspace }) {
          await work((use) => hands.use(use), workspace);
          return { kind: 'workspace', usage: { costUnits: 0 } };
        },
      },
    },
    { ...spec, security },
  );
  return { view, sample };
}

/** What makes the sample's tests pass. */
export async function mend(use: Use): Promise<void> {
  const { bytes = Buffer.alloc(0) } = await use({ kind: 'read', path: 'src/price.js' });
  const text = Buffer.from(bytes).toString().replace('count * cents + 1', 'count * cents');
  await use({ kind: 'write', path: 'src/price.js', bytes: Buffer.from(text) });
  const test = await use({ kind: 'read', path: 'test/price.test.js' });
  const more = "\ntest('two', () => {\n  assert.equal(price(2, 100), 200);\n});\n";
  await use({
    kind: 'write',
    path: 'test/price.test.js',
    bytes: Buffer.concat([test.bytes ?? Buffer.alloc(0), Buffer.from(more)]),
  });
}
