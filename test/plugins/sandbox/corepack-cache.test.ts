import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { homeInside, viewFor, viewOfHost } from '../../../plugins/sandbox/host-view.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { openScene, type Scene } from './sandbox-scene.ts';

delete process.env.COREPACK_HOME;
delete process.env.XDG_CACHE_HOME;

const inside = `${homeInside}/.cache/node/corepack`;

function fileIn(directory: string, name: string, text = name): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, name), text);
  chmodSync(path.join(directory, name), 0o755);
}

/** Tools whose `pnpm` is corepack, and the cache of corepack with one complete version and one that broke off. */
function layOut({ root, facts }: Scene) {
  const home = path.join(root, 'home');
  const [tools, cache] = [path.join(root, 'tools'), path.join(home, '.cache/node/corepack')];
  fileIn(path.join(tools, 'lib/node_modules/corepack/dist'), 'pnpm.js', '#!/bin/sh\n');
  mkdirSync(path.join(tools, 'bin'));
  symlinkSync('../lib/node_modules/corepack/dist/pnpm.js', path.join(tools, 'bin/pnpm'));
  fileIn(path.join(cache, 'v1/pnpm/9.15.0'), '.corepack', 'downloaded\n');
  fileIn(path.join(cache, 'v1/pnpm/9.16.0'), 'package.json');
  fileIn(cache, 'lastKnownGood.json', '{}\n');
  return { cache, tools, facts: { ...facts, home, path: `${tools}/bin:${facts.path}` } };
}

for (const make of [bubblewrapSandbox, unshareSandbox]) {
  t.test(`${make().name}: corepack finds in its home what it has downloaded`, async (t) => {
    const scene = openScene(t);
    const { facts } = layOut(scene);
    const script = `cd ~/.cache/node/corepack && cat v1/pnpm/9.15.0/.corepack lastKnownGood.json
      touch v1/new 2>/dev/null || echo read-only; mkdir ~/.cache/other && echo writable beside it`;
    const result = await scene.run(make(facts), script);
    t.equal(
      result.stdout.bytes.toString(),
      'downloaded\n{}\nread-only\nwritable beside it\n',
      result.stderr.bytes.toString(),
    );
  });
}

t.test('the cache is bound where corepack is on PATH; with a network each version of it', async (t) => {
  const scene = openScene(t);
  const { cache, facts, tools } = layOut(scene);
  const request = {
    argv: ['true'],
    workspace: scene.workspace,
    reports: scene.workspace,
    binds: [],
    env: {},
    network: 'none' as const,
    timeoutMs: 1,
    maxOutputBytes: 1,
  };
  // The system directories of this machine may hold a corepack, too.
  const bindsOf = async (more: object = {}, searchPath = [path.join(tools, 'bin')]) =>
    (await viewFor({ ...viewOfHost(facts), searchPath }, { ...request, ...more })).request.binds;
  const whole = [{ source: cache, target: inside, writable: false }];
  t.strictSame(await bindsOf(), whole);
  const version = '/v1/pnpm/9.15.0';
  t.strictSame(await bindsOf({ network: { way: scene.workspace } }), [
    { source: cache + version, target: inside + version, writable: false },
  ]);
  t.strictSame(await bindsOf({}, []), [], 'no program here is started by corepack');
  t.strictSame(await bindsOf({ tools: [path.join(tools, 'bin')] }, []), whole, 'tools of the contract');
  const repository = { root: facts.home, others: [], isIgnored: async () => false };
  t.strictSame(await bindsOf({ repository }), [], 'the repository tracks it');

  process.env.COREPACK_HOME = path.join(scene.root, 'moved');
  t.teardown(() => delete process.env.COREPACK_HOME);
  t.strictSame(await bindsOf(), [], 'nothing is there');
  symlinkSync(cache, process.env.COREPACK_HOME);
  t.strictSame(await bindsOf(), whole);
  process.env.COREPACK_HOME = facts.home;
  t.strictSame(await bindsOf(), [], 'never the home directory');
});
