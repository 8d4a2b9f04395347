import { long } from '../rooms/long.ts';
import { ending, mending, workWithScript } from './work-with-script.ts';

long('a hundred calls in one reply are answered one by one in order', async (t) => {
  const many = Array.from(
    { length: 100 },
    (_, at) => ['read_file', { path: 'src/price.js', from_line: at + 1 }] as const,
  );
  const { view, told } = await workWithScript(t, [
    { calls: many },
    { calls: [mending] },
    { calls: [ending] },
  ]);
  t.match(view, { decision: { type: 'commit' } });
  t.equal(told.length, 101);
  t.match(told[0], '1\t');
  t.match(told[99], 'there is no line 100');
});

long('malformed calls are reported to the model, and the run goes on', async (t) => {
  // Where the contract asks for their structure, the engine asks again before any call of the reply is made.
  const promptInjection = { enforceOutputSchema: false };
  const spec = { promptInjection };
  const calls = [
    ['no_such_tool', {}],
    ['read_file', '[]'],
    ['read_file', '"src/price.js"'],
    ['read_file', 'null'],
    ['read_file', '{'],
    ['read_file', ''],
    ['read_file', { path: 7 }],
    ['read_file', { path: 'src/price.js', __proto__x: 1 }],
    ['read_file', '{"path":"src/price.js","path":"/etc/passwd"}'],
  ] as const;
  const { view, told } = await workWithScript(
    t,
    [{ calls }, { calls: [mending] }, { calls: [ending] }],
    spec,
  );
  t.match(view, { decision: { type: 'commit' } });
  t.match(told[0], 'there is no such tool');
  for (const one of told.slice(1, 4)) t.match(one, 'not an object');
  t.match(told[4], 'not JSON');
  t.match(told[5], 'is missing');
  t.match(told[6], 'has to be of type string');
  t.match(told[7], 'there is no argument');
  t.notMatch(told[8], 'root:');
});

long('unsafe paths are denied, and the run goes on', async (t) => {
  const add = (path: string) =>
    ['apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }] as const;
  const paths = [
    '/etc/passwd',
    '../x',
    'src/../../x',
    'src/a\0b',
    '.git/config',
    'src/.git/x',
    '',
    '~/x',
    `src/${'d/'.repeat(3000)}x`,
  ];
  const calls = [
    ...paths.map((path) => ['read_file', { path }] as const),
    ...paths.map(add),
    ['list_dir', { path: '..' }],
    ['grep_files', { pattern: 'x\0y', path: '.' }],
    ['grep_files', { pattern: 'x'.repeat(1_000_000), path: '.' }],
    ['grep_files', { pattern: 'x', path: '/etc' }],
    ['shell', { command: 'node -e 1\0' }],
  ] as const;
  const { view, told } = await workWithScript(t, [{ calls }, { calls: [mending] }, { calls: [ending] }]);
  t.match(view, { decision: { type: 'commit' } });
  t.equal(told.length, calls.length + 1);
  for (const [index, one] of told.slice(0, calls.length).entries())
    t.match(one, /denied: |failed: |not applied|leads out of the workspace/, `call ${index + 1}`);
});

long('arguments of ten megabytes end in a commit or a provider failure', async (t) => {
  const large = 'x'.repeat(10 * 1024 * 1024);
  const replies = [
    { calls: [['shell', { command: `echo ${large}` }]] as const },
    { calls: [mending] },
    { calls: [ending] },
  ];
  const outcome = await workWithScript(t, replies).then(
    ({ view }) => view.decision?.type,
    (fault: { readonly code?: string }) => fault.code,
  );
  t.match(outcome, /^(?:commit|PROVIDER_FAILED)$/);
});

long('a patch that fits only in part is not applied, and a denied part is reported', async (t) => {
  const half =
    '*** Begin Patch\n*** Add File: src/one.js\n+// one\n*** Update File: src/price.js\n@@\n-no such line\n+x\n*** End Patch';
  const denied =
    '*** Begin Patch\n*** Add File: src/two.js\n+// two\n*** Add File: docs/no.md\n+x\n*** Add File: src/three.js\n+// three\n*** End Patch';
  const { view, sample, told } = await workWithScript(t, [
    { calls: [['apply_patch', { patch: half }], ['apply_patch', { patch: denied }], mending] },
    { calls: [ending] },
  ]);
  t.match(view, { decision: { type: 'commit' } });
  t.match(told[0], 'not applied');
  t.match(told[1], /stopped, the files before it are changed:\nsrc\/two.js: written.*\ndocs\/no.md: denied/);
  t.strictSame(
    sample
      .git('ls-tree', '--name-only', 'HEAD', 'src/')
      .split('\n')
      .filter((path) => /one|two|three/.test(path)),
    ['src/two.js'],
  );
});

long('`update_plan` validates the plan, and user input is unavailable', async (t) => {
  const { view, told } = await workWithScript(t, [
    {
      calls: [
        ['update_plan', { steps: 'completed look\nin_progress: mend\npending test' }],
        ['update_plan', { steps: 'in_progress a\nin_progress b' }],
        ['update_plan', { steps: 'someday a' }],
        ['update_plan', { steps: ' ' }],
        ['request_user_input', { question: 'cents or euros?' }],
      ],
    },
    { calls: [mending] },
    { calls: [ending] },
  ]);
  t.match(view, { decision: { type: 'commit' } });
  t.match(told[0], 'noted:\ncompleted look\nin_progress: mend\npending test');
  t.match(told[1], 'expected one step in progress, found 2');
  t.match(told[2], 'expected one of pending, in_progress, completed');
  t.match(told[3], 'expected 1 to 50 steps, found 0');
  t.match(told[4], 'no one is there to answer');
});
