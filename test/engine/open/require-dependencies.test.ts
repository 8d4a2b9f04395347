import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseConfig } from '../../../engine/config/config.ts';
import { requireDependencies, requireLockfiles } from '../../../engine/open/requirements.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { fixtures, makeSample } from '../sample.ts';

t.setTimeout(120_000);

const runId = '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2';
const source = {
  kind: 'patch',
  bytes: readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff')),
} as const;

function unitCheck(command: string) {
  const artifactsProduced = ['test-log'];
  const unit = {
    id: 'unit',
    kind: 'command',
    command,
    timeoutSeconds: 60,
    required: true,
    artifactsProduced,
  };
  return {
    acceptance: { verificationPlan: { fastChecks: [unit] } },
    security: { toolAcl: { allow: [{ tool: 'workspace.command', actions: ['execute'] }] } },
  };
}

t.test('a check whose program is in an ignored directory that is not shared', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, '.gitignore'), '.venv/\n/tools/made/\n');
  mkdirSync(join(sample.root, 'scripts/bin'), { recursive: true });
  writeFileSync(join(sample.root, 'scripts/bin/lint'), '#!/bin/sh\n', { mode: 0o755 });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Ignore what is made');

  const repository = await openRepository(sample.root);
  const tree = sample.git('rev-parse', 'HEAD^{tree}');
  const require = (command: string, workspace = '') =>
    requireDependencies(
      repository,
      tree,
      unitCheck(command) as never,
      parseConfig(Buffer.from(`[workspace]\n${workspace}`), { signers: new Map(), logs: new Map() })
        .workspace,
    );
  for (const [command, directory] of [
    ['.venv/bin/python -m pytest', '.venv'],
    ['CI=1 timeout 60 .venv/bin/python -m pytest', '.venv'],
    ['tools/made/bin/lint .', 'tools/made'],
    ['node_modules/.bin/vitest run', 'node_modules'],
    ['true && packages/a/node_modules/.bin/vitest run', 'packages/a/node_modules'],
  ] as const)
    await t.rejects(require(command), {
      code: 'WORKSPACE_DEPENDENCIES_MISSING',
      exitCode: 128,
      detail: { check: 'unit', directory },
      hints: [new RegExp(`share = \\["${directory}"\\].*prepare`)],
    });
  await t.resolves(require('scripts/bin/lint .'), 'a program of the repository');
  await t.resolves(require('elsewhere/bin/lint .'), 'a program that a change may add');
  await t.resolves(require('python3 -m pytest'));
  const prepare =
    '[[workspace.prepare]]\nargv = ["make-venv"]\ninputs = ["package.json"]\noutputs = [".venv"]';
  await t.resolves(require('.venv/bin/python -m pytest', prepare));
  const shared = () => require('.venv/bin/python -m pytest', 'share = [".venv"]');
  await t.rejects(shared(), { message: /the working tree has no such directory to share/ });
  mkdirSync(join(sample.root, '.venv/bin'), { recursive: true });
  symlinkSync(process.execPath, join(sample.root, '.venv/bin/python'));
  await t.resolves(shared());

  // The directory is on disk, where an ordinary run would find it.
  const spec = unitCheck('.venv/bin/python -e 0');
  await t.rejects(sample.run({ source, runId }, spec), { code: 'WORKSPACE_DEPENDENCIES_MISSING' });
  t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'refused before any work');

  mkdirSync(join(sample.root, '.writ'));
  const share = '[workspace]\nshare = [".venv"]\nlockfile = "uv.lock"\n';
  writeFileSync(join(sample.root, '.writ/config.toml'), share);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Share it');
  await t.rejects(sample.run({ source, runId }, spec), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    message: /`\.venv` is not shared: `uv\.lock` is not in the base commit/,
  });
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
});

t.test('a `prepare` step whose lockfile is missing', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const prepare = '[[workspace.prepare]]\nargv = ["uv", "sync"]\nlockfile = "uv.lock"\noutputs = [".venv"]\n';
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ/config.toml'), prepare);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Prepare');
  await t.rejects(sample.run({ source, runId }), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    message: /`uv sync` over `uv\.lock`, which the base commit does not have/,
  });
  t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'refused before any work');

  const { workspace } = parseConfig(Buffer.from(prepare), { signers: new Map(), logs: new Map() });
  const repository = await openRepository(sample.root);
  const tree = sample.git('rev-parse', 'HEAD^{tree}');
  const require = (write: readonly string[], changed?: string) =>
    requireLockfiles(
      repository,
      tree,
      workspace,
      changed === undefined
        ? { scope: { write, forbidden: [], wholeRepository: write.length === 0 } }
        : { tree: changed },
    );
  await t.rejects(
    require([]),
    { code: 'WORKSPACE_DEPENDENCIES_MISSING' },
    'a worker in the whole repository',
  );
  await t.resolves(require(['pyproject.toml']), 'a worker whose scope names it');
  writeFileSync(join(sample.root, 'uv.lock'), '\n');
  sample.git('add', '--all');
  await t.resolves(require([], sample.git('write-tree')), 'the change brings it');
});
