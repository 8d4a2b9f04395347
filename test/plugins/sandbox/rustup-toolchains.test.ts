import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { homeInside, viewFor, viewOfHost } from '../../../plugins/sandbox/host-view.ts';
import { noSandbox } from '../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { openScene, type Scene } from './sandbox-scene.ts';

delete process.env.RUSTUP_HOME;

function fileIn(directory: string, name: string, text = '#!/bin/sh\n'): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, name), text);
  chmodSync(path.join(directory, name), 0o755);
}

/** A rustup with a default toolchain, another one, and one that is a link, whose `rustc` print their names. */
function layOut({ root, facts, home }: Scene) {
  const [bin, rustup] = [path.join(home, '.cargo/bin'), path.join(home, '.rustup')];
  fileIn(bin, 'rustup', '#!/bin/sh\nexec ~/.rustup/toolchains/$1/bin/rustc\n');
  symlinkSync('rustup', path.join(bin, 'cargo'));
  fileIn(rustup, 'settings.toml', 'default_toolchain = "stable-x"\n');
  for (const name of ['stable-x', 'nightly-x'])
    fileIn(path.join(rustup, 'toolchains', name, 'bin'), 'rustc', `#!/bin/sh\necho ${name}\n`);
  fileIn(path.join(root, 'built/bin'), 'rustc', '#!/bin/sh\necho built\n');
  symlinkSync(path.join(root, 'built'), path.join(rustup, 'toolchains/dev'));
  return { bin, rustup, facts: { ...facts, home, path: `${bin}:/usr/bin:/bin` } };
}

for (const make of [bubblewrapSandbox, unshareSandbox, noSandbox]) {
  t.test(`${make().name}: rustup finds its toolchains and its default in its home`, async (t) => {
    const scene = openScene(t);
    const { facts } = layOut(scene);
    const script = `cat ~/.rustup/settings.toml; for one in stable-x nightly-x dev; do cargo $one; done`;
    const result = await scene.run(make(facts), script);
    t.equal(
      result.stdout.bytes.toString(),
      'default_toolchain = "stable-x"\nstable-x\nnightly-x\nbuilt\n',
      result.stderr.bytes.toString(),
    );
  });
}

t.test('the home of rustup is bound where it starts cargo, unless it holds something else', async (t) => {
  const scene = openScene(t);
  const { bin, facts, rustup } = layOut(scene);
  const request = {
    argv: ['true'],
    workspace: scene.workspace,
    reports: scene.reports,
    binds: [],
    env: {},
    network: 'none' as const,
    timeoutMs: 1,
    maxOutputBytes: 1,
  };
  const viewed = (more: object = {}) => viewFor(viewOfHost(facts), { ...request, ...more });
  const bindsOf = async (more: object = {}) => (await viewed(more)).request.binds;
  const bind = [{ source: rustup, target: `${homeInside}/.rustup`, writable: false }];
  t.strictSame(await bindsOf(), bind);
  const { view } = await viewed();
  t.ok(view.toolchains.includes(path.join(scene.root, 'built/bin')), 'the target of a link');
  t.notOk(
    view.searchPath.some((one) => /rustup|built/.test(one)),
    'rustup chooses',
  );

  const repository = { root: facts.home, others: [], isIgnored: async () => false };
  t.strictSame(await bindsOf({ repository }), [], 'the repository tracks it');
  const inner = { ...repository, root: path.join(rustup, 'src') };
  t.strictSame(await bindsOf({ repository: inner }), [], 'the repository is in it');
  fileIn(rustup, 'credentials.toml');
  t.strictSame(await bindsOf(), [], 'it is the home of cargo, too');
  rmSync(path.join(rustup, 'credentials.toml'));
  process.env.RUSTUP_HOME = facts.home;
  t.teardown(() => delete process.env.RUSTUP_HOME);
  t.strictSame(await bindsOf(), [], 'never the home directory');
  delete process.env.RUSTUP_HOME;

  rmSync(path.join(bin, 'cargo'));
  fileIn(bin, 'cargo');
  t.strictSame(await bindsOf(), [], 'a cargo of its own');
  rmSync(path.join(bin, 'cargo'));
  linkSync(path.join(bin, 'rustup'), path.join(bin, 'cargo'));
  t.strictSame(await bindsOf(), bind, 'a hard link, as older versions make it');
});
