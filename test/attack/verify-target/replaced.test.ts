import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { long } from '../../rooms/long.ts';
import { sealedPlace } from './place.ts';

const { sample, commit, base, runId, verify } = await sealedPlace();
const { git, root } = sample;
t.teardown(() => sample.remove());

const refused = { code: 1, error: { code: 'REPLACED' }, data: { verified: false } };
const plainGit = (of: { readonly data?: { readonly checks: readonly { readonly id: string }[] } }) =>
  of.data?.checks.find(({ id }) => id === 'plain-git');

/** Does something to the repository, asks, and puts it right again. */
async function replacing(id: string, by: string, ask: () => Promise<unknown>): Promise<void> {
  git('update-ref', `refs/replace/${id}`, by);
  await ask();
  git('update-ref', '-d', `refs/replace/${id}`);
}

const evil = git('commit-tree', '-p', base, '-m', 'evil', `${base}^{tree}`);

t.test('a repository without replacements is verified without a mention of them', async (t) => {
  const found = await verify(commit);
  t.equal(found.code, 0);
  t.equal(plainGit(found), undefined);
});

t.test('a sealed commit that git replaces with another is refused under every name', async (t) => {
  await replacing(commit, evil, async () => {
    t.not(git('cat-file', '-p', commit).includes('Run-Id'), true, 'plain git shows the other one');
    for (const target of [commit, 'HEAD', 'main', runId]) {
      const found = await verify(target);
      t.match(found, refused, target);
      t.match(plainGit(found), { status: 'failed', code: 'replaced' });
      t.match(found.error?.details.found, [new RegExp(commit)]);
    }
  });
});

long('a commit whose tree, file, directory or parent git replaces is refused', async (t) => {
  const blob = git('rev-parse', `${commit}:package.json`);
  const otherBlob = git('rev-parse', `${commit}:src/price.js`);
  const tree = git('rev-parse', `${commit}^{tree}`);
  const directory = git('rev-parse', `${commit}:src`);
  const baseTree = git('rev-parse', `${base}^{tree}`);
  const lies: readonly (readonly [what: string, id: string, by: string])[] = [
    ['a file', blob, otherBlob],
    ['the tree', tree, baseTree],
    ['a directory', directory, baseTree],
    ['the parent', base, evil],
    ['the tree of the parent', baseTree, tree],
  ];
  for (const [what, id, by] of lies)
    await replacing(id, by, async () => t.match(await verify(commit), refused, what));
});

t.test('a tag that git replaces with another is refused', async (t) => {
  git('tag', '-a', '-m', 'x', 'v1', commit);
  git('tag', '-a', '-m', 'x', 'v1-evil', evil);
  git('tag', '-a', '-m', 'x', 'v1-outer', 'v1');
  await replacing(git('rev-parse', 'v1'), git('rev-parse', 'v1-evil'), async () => {
    t.equal(git('rev-parse', 'v1^{commit}'), evil, 'plain git follows');
    t.match(await verify('v1'), refused);
    t.match(await verify('v1-outer'), refused, 'a tag of a tag');
    t.match(await verify(commit), { code: 0 }, 'the commit by its id is what it is');
  });
});

t.test('grafted parents are refused unless they are the real parents of the commit', async (t) => {
  const grafts = join(root, '.git/info/grafts');
  mkdirSync(join(root, '.git/info'), { recursive: true });
  writeFileSync(grafts, `${commit} ${evil}\n`);
  t.match(await verify(commit), refused);
  writeFileSync(grafts, `# a comment\n${commit}\n`);
  t.match(await verify(commit), refused, 'no parent at all');
  writeFileSync(grafts, `${commit} ${base}\n`);
  const same = await verify(commit);
  t.equal(same.code, 0);
  t.match(plainGit(same), { status: 'passed' });
  rmSync(grafts);
});

long('a replacement ref in any spelling that git follows is refused', async (t) => {
  const upper = commit.toUpperCase();
  const subject = () => git('log', '-1', '--format=%s', commit);
  const packed = join(root, '.git/packed-refs');
  const packedBefore = existsSync(packed) ? readFileSync(packed) : undefined;
  for (const name of [upper, `below/${commit}`, `below/${upper}`]) {
    const loose = join(root, '.git/refs/replace', name);
    mkdirSync(dirname(loose), { recursive: true });
    writeFileSync(loose, `${evil}\n`);
    t.equal(subject(), 'evil', 'plain git follows');
    t.match(await verify(commit), refused, name);
    rmSync(join(root, '.git/refs/replace'), { recursive: true });
    writeFileSync(packed, `${packedBefore ?? ''}${evil} refs/replace/${name}\n`);
    t.equal(subject(), 'evil', 'plain git follows what is packed');
    t.match(await verify(commit), refused, `packed ${name}`);
    if (packedBefore) writeFileSync(packed, packedBefore);
    else rmSync(packed);
  }
  t.equal((await verify(commit)).code, 0);
});

long('a graft in any spelling that git reads is refused', async (t) => {
  const grafts = join(root, '.git/info/grafts');
  const shown = () => git('log', '-1', '--format=%P', commit);
  const upper = commit.toUpperCase();
  const wide = `${base}${'0'.repeat(24)}`;
  for (const [what, text, parent] of [
    ['a tab', `${commit}\t${evil}\n`, evil],
    ['a carriage return', `${commit}\r${evil}\r\n`, evil],
    ['upper case', `${upper} ${evil.toUpperCase()}\n`, evil],
    ['two lines, the first counts', `${commit} ${evil}\n${commit} ${base}\n`, evil],
    ['no end of line', `${commit} ${evil}`, evil],
    ['cut off by a NUL', `${commit}\0${base}\n`, ''],
    ['after a line that git cannot read', `${commit} ${base}\v\n${commit} ${evil}\n`, evil],
    ['after two spaces', `${commit}  ${base}\n${commit} ${evil}\n`, evil],
    ['after an id that is too long', `${commit} ${wide}\n${commit} ${evil}\n`, evil],
    ['after much else', `${'#\n'.repeat(9 * 1024 * 1024)}${commit} ${evil}\n`, evil],
  ] as const) {
    writeFileSync(grafts, text);
    t.equal(shown(), parent, `plain git: ${what}`);
    t.match(await verify(commit), refused, what);
  }
  rmSync(grafts);
});

t.test('a replacement that does not affect the commit is only a warning', async (t) => {
  const unrelated = git('commit-tree', '-m', 'unrelated', `${base}^{tree}`);
  await replacing(unrelated, evil, async () => {
    const found = await verify(commit);
    t.match(found, { code: 0, data: { warnings: [{ code: 'REPLACEMENTS' }] } });
    t.match(found.err, /warning: .*refs\/replace/);
    t.match(plainGit(found), { status: 'passed' });
  });
  await replacing(commit, evil, async () => {
    git('config', 'core.useReplaceRefs', 'false');
    t.equal((await verify(commit)).code, 0, 'git is told not to follow them');
    git('config', '--unset', 'core.useReplaceRefs');
  });
});

t.test('a bundle about a commit that git replaces is not verified', async (t) => {
  writeFileSync(join(root, 'p.sigstore.json'), git('show', `refs/ai/runs/${runId}:provenance.sigstore.json`));
  t.equal((await verify('./p.sigstore.json')).code, 0);
  await replacing(commit, evil, async () => t.match(await verify('./p.sigstore.json'), refused));
});
