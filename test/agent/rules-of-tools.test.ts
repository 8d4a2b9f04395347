import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { HandAnswer, HandUse } from '../../core/interfaces/worker.ts';
import { casesOf, long } from '../rooms/long.ts';
import { everything, mend, rule, useHands } from './use-workspace-tools.ts';

const bytes = (text: string) => Buffer.from(text);
const search = (pattern: string, path = '.') => ({ kind: 'search', pattern, path }) as const;
const list = (path = '.') => ({ kind: 'list', path }) as const;
const execute = (command: string) => ({ kind: 'execute', command }) as const;

/** Something to hide, in places that a search and a listing pass. */
function hide({ root }: { readonly root: string }): void {
  mkdirSync(join(root, 'vault/deep'), { recursive: true });
  writeFileSync(join(root, 'vault/deep/key.txt'), 'needle in the vault\n');
  writeFileSync(join(root, 'src/note.txt'), 'needle in the source\n');
  writeFileSync(join(root, 'src/odd\nvault'), 'needle in an odd name\n');
  symlinkSync('../vault', join(root, 'src/way'));
  symlinkSync('../vault/deep/key.txt', join(root, 'src/key.txt'));
  symlinkSync('/etc', join(root, 'src/out'));
}

const hidden = { denyPaths: ['vault'] };
const open = everything.slice(0, 2);

const hiding = {
  'an allow rule': {
    allow: [rule('workspace.fs', ['read'], hidden), rule('workspace.search', ['search'], hidden)],
  },
  'a deny rule': {
    deny: [rule('workspace.search', ['search'], hidden), rule('workspace.fs', ['read'], hidden)],
  },
  'a deny rule for reading': { deny: [rule('workspace.fs', ['read'], hidden)] },
  'a deny rule for everything': { deny: [rule('*', ['*'], hidden)] },
};
for (const [how, given] of casesOf(hiding, ['a deny rule for reading'])) {
  t.test(`files hidden by ${how} are not searched, listed or reached by a symlink`, async (t) => {
    await useHands(t, { allow: open, prepare: hide, ...given }, async (use) => {
      const found = await use(search('needle'));
      t.match(found, { outcome: 'done' });
      t.match(found.text, 'src/note.txt:1:needle in the source');
      t.match(found.text, 'needle in an odd name');
      t.notMatch(found.text, 'in the vault');
      const names = await use(list());
      t.match(names.text, /^src\/$/m);
      t.notMatch(names.text, 'vault');
      for (const path of ['vault', 'vault/deep', 'src/way', 'src/key.txt', 'src/way/deep/key.txt']) {
        t.match(await use(search('needle', path)), { outcome: 'denied' }, path);
        t.match(await use({ kind: 'read', path }), { outcome: 'denied' }, path);
        t.match(await use(list(path)), { outcome: 'denied' }, path);
      }
      t.match(await use(search('root', 'src/out')), { outcome: 'denied' });
      t.notMatch((await use(search('root:'))).text, 'root:', 'no link leads a search out');
    });
  });
}

t.test('an invalid search pattern fails, and one without matches succeeds', async (t) => {
  await useHands(t, {}, async (use) => {
    t.match(await use(search('no such words')), { outcome: 'done', text: '' });
    t.match(await use(search('a(')), { outcome: 'failed' });
    t.match(await use(search('price', 'src/price.js')), { outcome: 'done', text: /src\/price.js:\d+:/ });
    t.match(await use(search('price', 'nowhere')), { outcome: 'failed', text: 'failed: ENOENT' });
  });
});

long('results are cut at the limit of the rule, with a note', async (t) => {
  const cap = { maxResultBytes: 20 };
  const allow = [
    rule('workspace.fs', ['read', 'write'], cap),
    rule('workspace.search', ['search'], { maxOutputBytes: 10 }),
    rule('workspace.command', ['execute'], { maxResultBytes: 30 }),
  ];
  await useHands(t, { allow }, async (use) => {
    const read = await use({ kind: 'read', path: 'src/price.js' });
    t.match(read, { outcome: 'done', text: /^[\s\S]{20}\n\[cut: 20 of \d+ bytes; a rule/ });
    t.match(await use(search('price')), { text: /^[\s\S]{10}\n\[cut: 10 of \d+ bytes/ });
    const printed = await use(execute('node -e \'console.log("x".repeat(1000))\''));
    t.match(printed, { outcome: 'done', text: /\[cut: 1001 bytes in all\]/ });
    t.ok(printed.text.length < 80, printed.text);
    await use({ kind: 'write', path: 'src/euro.txt', bytes: bytes('€'.repeat(10)) });
    const euros = await use({ kind: 'read', path: 'src/euro.txt' });
    t.match(euros.text, /^1\t€{6}\n\[cut: 20 of 32 bytes/, 'no half character');
  });
});

long('a write beyond the roots, the bytes or the scope is refused with advice', async (t) => {
  const allow = [
    ...everything.filter(({ tool }) => tool !== 'workspace.fs'),
    rule('workspace.fs', ['read', 'write', 'delete'], {
      writeRoots: ['src'],
      maxWriteBytes: 10,
      denySubstrings: ['hush'],
    }),
  ];
  await useHands(t, { allow }, async (use) => {
    const write = (path: string, text = 'x') => use({ kind: 'write', path, bytes: bytes(text) });
    t.match(await write('src/new.js'), { outcome: 'done' });
    t.match(await write('src/new.js', 'x'.repeat(10)), { outcome: 'done' });
    t.match(await write('src/new.js', 'x'.repeat(11)), { outcome: 'denied', text: 'more than 10 bytes' });
    t.match(await write('test/new.js'), { outcome: 'denied', text: 'expected one below `src`' });
    t.match(await write('src/hush.js'), { outcome: 'denied', text: '`hush`' });
    t.match(await write('src/secret/new.js'), {
      outcome: 'denied',
      text: 'out of scope by the contract; leave it',
    });
    t.match(await use({ kind: 'delete', path: 'test/price.test.js' }), { outcome: 'denied' });
    t.match(
      await use({ kind: 'read', path: 'test/price.test.js' }),
      { outcome: 'done' },
      'roots are for writing',
    );
  });
  await useHands(t, {}, async (use) => {
    const text = 'not in the scope of the contract, which is `src/`, `test/`; leave it';
    t.match(await use({ kind: 'write', path: 'docs/a.md', bytes: bytes('x') }), { outcome: 'denied', text });
  });
});

long('constraints that a tool cannot enforce make its rule allow nothing', async (t) => {
  const hosts = { networkHosts: ['example.org'], networkReason: 'manuals' };
  for (const constraints of [{ allowCommands: ['cat'] }, hosts]) {
    const allow = [
      rule('workspace.fs', ['read', 'write', 'delete'], constraints),
      rule('workspace.search', ['search'], constraints),
    ];
    await useHands(t, { allow }, async (use) => {
      const uses: readonly HandUse[] = [{ kind: 'read', path: 'src/price.js' }, list(), search('x')];
      for (const one of uses)
        t.match(await use(one), { outcome: 'denied' }, `${one.kind} ${Object.keys(constraints)}`);
    });
  }
});

long('files that a command wrote out of scope are reported at once', async (t) => {
  const told: HandAnswer[] = [];
  const { view } = await useHands(t, {}, async (use) => {
    await mend(use);
    told.push(await use(execute('node -e 1')));
    told.push(await use(execute('echo x > docs/a.md && rm docs/notes.md && echo y > src/b.js')));
    told.push(await use(execute('node -e 1')));
    told.push(
      await use(execute('mkdir node_modules && echo x > node_modules/z && echo node_modules > .gitignore')),
    );
  });
  t.notMatch(told[0]?.text, 'written');
  t.match(
    told[1]?.text,
    /^\[written outside the scope of the contract: `docs\/a.md` \(added\), `docs\/notes.md` \(deleted\)\. Undo/,
  );
  t.notMatch(told[2]?.text, 'written', 'once');
  t.match(told[3]?.text, /contract: `.gitignore` \(added\)\./, 'not what git ignores');
  t.not(view.decision?.type, 'commit', 'nor does it land');
});

long('files outside the write roots are reported, and refused if they stay', async (t) => {
  const allow = [
    ...everything.filter(({ tool }) => tool !== 'workspace.command'),
    rule('workspace.command', ['execute'], { writeRoots: ['test'], allowCommands: ['node', 'rm'] }),
  ];
  for (const stays of [true, false]) {
    const { view } = await useHands(
      t,
      { allow, spec: { intent: { inScope: ['src/', 'test/'] } } },
      async (use) => {
        await mend(use);
        const answer = await use(execute("node -e 'fs.writeFileSync(`src/b.js`, `// b`)'"));
        t.match(
          answer.text,
          /outside the `writeRoots` of the rule that allows the command: `src\/b.js` \(added\)/,
        );
        if (!stays) t.match(await use({ kind: 'delete', path: 'src/b.js' }), { outcome: 'done' });
      },
    );
    t.equal(view.decision?.type, stays ? 'abandon' : 'commit', JSON.stringify(view.decision));
    if (stays) t.match(view.decision?.rationale, 'no usable patch');
  }
});

long('no file that a command writes grows beyond maxWriteBytes', async (t) => {
  const allow = [...open, rule('workspace.command', ['execute'], { maxWriteBytes: 2048 })];
  await useHands(t, { allow }, async (use) => {
    const write = (many: number) =>
      use(execute(`node -e 'fs.writeFileSync(\`src/b.js\`, \`x\`.repeat(${many}))'`));
    t.match(await write(2048), { outcome: 'done' });
    t.match(await write(2049), { outcome: 'failed' });
  });
});

long('a command cannot run git by any path', async (t) => {
  await useHands(t, {}, async (use) => {
    t.match(await use(execute('git status')), {
      outcome: 'denied',
      text: /only writ commits it/,
    });
    t.match(await use(execute('sh -c "env git status"')), { outcome: 'denied' });
    const script =
      'const { spawnSync } = require("node:child_process");for (const name of process.argv.slice(1)) {const { status, stderr } = spawnSync(name, ["--version"], { encoding: "utf8" }); console.log(name, status, (stderr || "").trim());}';
    await use({ kind: 'write', path: 'src/run.cjs', bytes: bytes(script.replace('slice(1)', 'slice(2)')) });
    const asked = 'git /usr/bin/git /bin/git /usr/lib/git-core/git git-upload-pack';
    const { text } = await use(execute(`node src/run.cjs ${asked}`));
    for (const name of asked.split(' '))
      t.match(text, new RegExp(`^${name} (?:127 .*what the files hold is the change|null )`, 'm'), name);
    t.match(text, /^git 127 git: version control is not for commands here/m);
  });
});

long('network access opened for a command is recorded in the provenance', async (t) => {
  const hosts = { networkHosts: ['registry.example'], networkReason: 'packages come from there' };
  const allow = [
    ...everything.filter(({ tool }) => tool !== 'workspace.command'),
    rule('workspace.command', ['execute'], { allowCommands: ['node'] }),
    rule('workspace.command', ['execute'], { allowCommands: ['printenv'] }),
    rule('workspace.command', ['execute'], { allowCommands: ['date'], ...hosts }),
  ];
  const { view, sample } = await useHands(t, { allow }, async (use) => {
    await mend(use);
    t.match(await use(execute('printenv HTTP_PROXY')), { outcome: 'failed' }, 'nothing is opened to it');
    t.match(await use(execute('date')), { outcome: 'done' });
  });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
  const { predicate } = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
  t.match(predicate.buildDefinition.internalParameters.writ_network, [
    { stage: 'work', opened: [{ hosts: ['registry.example'], reason: 'packages come from there' }] },
  ]);
});
