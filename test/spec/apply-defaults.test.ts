import t from 'tap';
import { accepted, put, sample } from './sample.ts';
import { places } from './schema-walk.ts';

t.test('every default of the schema appears in the effective document of the minimal spec', async (t) => {
  const { effective } = accepted(sample('minimal'));
  const minimal: unknown = sample('minimal');
  const at = (document: unknown, path: readonly (string | number)[]): unknown =>
    path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
  let compared = 0;
  for (const { path, node, default: fallback } of places()) {
    if (path.includes(0) || fallback === undefined || node.type === 'object') continue;
    const written = at(minimal, path);
    if (Array.isArray(written) && typeof written[0] === 'object') continue;
    const expected = path.at(-1) === 'maxFrames' ? 48 : (written ?? fallback);
    t.strictSame(at(effective, path), expected, path.join('/'));
    compared += 1;
  }
  t.ok(compared > 60, `${compared} defaults`);
});

t.test('defaults are applied to list items too', async (t) => {
  const { effective } = accepted(sample('minimal'));
  t.strictSame(effective.acceptance.verificationPlan.fastChecks, [
    {
      id: 'unit',
      kind: 'command',
      command: 'npm test',
      timeoutSeconds: 900,
      expectedExitCode: 0,
      required: true,
      artifactsProduced: [],
    },
  ]);
  t.strictSame(effective.artifacts.required[0], {
    name: 'patchset',
    stage: 'per-task',
    required: true,
    format: '',
  });
  const document = sample('minimal');
  put(document, ['security', 'toolAcl', 'allow', 0, 'constraints'], undefined);
  t.strictSame(accepted(document).effective.security.toolAcl, {
    allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: {} }],
    deny: [],
  });
});

t.test('values that the author wrote are kept, and the document is not modified', async (t) => {
  const document = sample('high-assurance');
  const { effective, document: read } = accepted(document);
  t.same(effective, document);
  t.same(read, document);
});

t.test('optional fields without a default stay absent', async (t) => {
  const { effective } = accepted(sample('minimal'));
  t.notOk('displayName' in effective.metadata.createdBy);
  t.notOk('workspaceId' in effective.metadata.target);
});

t.test('maxFrames defaults to a value derived from maxWallClockSeconds', async (t) => {
  for (const [seconds, frames] of [
    [1, 1],
    [299, 1],
    [300, 1],
    [600, 2],
    [14400, 48],
    [38400, 128],
    [604800, 128],
  ] as const) {
    const document = sample('minimal');
    put(document, ['constraints', 'resources'], { maxWallClockSeconds: seconds });
    t.equal(accepted(document).effective.objmodel.contextPipeline.maxFrames, frames, `${seconds} s`);
    put(document, ['objmodel'], { contextPipeline: { maxFrames: 0 } });
    t.equal(accepted(document).effective.objmodel.contextPipeline.maxFrames, 0, 'the explicit value wins');
  }
});

t.test('a high-risk spec runs one task at a time, whatever it configures', async (t) => {
  for (const written of [undefined, {}, { maxParallelTasks: 8 }]) {
    const document = sample('high-assurance');
    put(document, ['execution', 'concurrency'], written);
    t.equal(accepted(document).effective.execution.concurrency.maxParallelTasks, 1);
  }
  t.equal(accepted(sample('minimal')).effective.execution.concurrency.maxParallelTasks, 4);
});

t.test('open objects keep hostile keys as plain data', async (t) => {
  const text = JSON.stringify(sample('minimal')).replace(
    '"lifecycle"',
    '"extensions":{"a/__proto__":1,"__proto__":{"polluted":1}},"lifecycle"',
  );
  const { effective } = accepted(JSON.parse(text));
  t.strictSame(Object.keys(effective.extensions), ['a/__proto__', '__proto__']);
  t.equal(Reflect.get({}, 'polluted'), undefined);
});
