/* One whole run of a version through the public engine, and everything of it that users can see. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, toJson } from './json.ts';
import { runFixtures } from './sample.ts';
import { runToEnd, type Version } from './version.ts';

export interface ChangeRun {
  /** Names the run's home. */
  readonly name: string;
  /** The repository, with `main` checked out. */
  readonly repository: string;
  readonly spec: Json;
  readonly patch: Buffer;
  /** A file of `fixtures/advisories` that the user has imported. */
  readonly advisories?: string;
  /** Artifacts whose JSON is part of the answer, by name. */
  readonly artifacts?: readonly string[];
}

/**
 * Runs a patch. Answers the run's data or its refusal, what `verify` says of the commit, and what is left in the
 * repository. Every run has a home, and so keys, of its own.
 */
export async function runChange(version: Version, change: ChangeRun): Promise<Json> {
  const { repository, spec, patch, advisories, artifacts = [] } = change;
  const env = { ...version.env, HOME: join(version.work, `home-${change.name}`) };
  mkdirSync(env.HOME);
  if (advisories !== undefined) {
    const file = join(runFixtures, '../advisories', advisories);
    const { exitCode, stderr } = await version.writ(['sca', 'import', file], version.work, env);
    if (exitCode !== 0) throw new Error(`writ sca import failed: ${stderr}`);
  }
  const { createEngine, isWritError } = await version.embedding();
  const engine = await createEngine({ env, report: () => {} });
  try {
    const specBytes = Buffer.from(JSON.stringify(spec));
    const run = await engine.run({ repository, spec: specBytes, source: { kind: 'patch', bytes: patch } });
    const commit = run.decision?.commit_sha;
    const verification =
      commit === undefined ? null : await engine.verify({ repository, targets: [commit], explain: true });
    const documents = await readArtifacts(version, repository, run, artifacts);
    const state = await stateOf(version, repository);
    const answer = JSON.stringify({ run, verification, documents, repository: state });
    return JSON.parse(commit === undefined ? answer : answer.replaceAll(commit, '{commit}')) as Json;
  } catch (thrown) {
    if (!isWritError(thrown)) throw thrown;
    const { code, message, detail, hints } = thrown;
    return toJson({
      refused: { code, message, detail, hints },
      repository: await stateOf(version, repository),
    });
  } finally {
    await engine.close();
  }
}

/** JSON documents that the run has made, as they are kept under its content ref. */
async function readArtifacts(
  version: Version,
  repository: string,
  run: {
    readonly content_ref?: string | undefined;
    readonly artifacts: readonly { readonly name: string; readonly path?: string | undefined }[];
  },
  names: readonly string[],
): Promise<Json> {
  const documents: { [name: string]: Json } = {};
  for (const { name, path } of run.artifacts.filter((one) => names.includes(one.name))) {
    const args = ['show', `${run.content_ref}:${path}`];
    const { stdout } = await runToEnd('git', args, repository, version.env);
    documents[name] = JSON.parse(stdout.toString()) as Json;
  }
  return documents;
}

/** The tree of the target, its commit in words, refs by name, and the working tree. */
async function stateOf(version: Version, repository: string): Promise<Json> {
  const git = async (...args: string[]): Promise<readonly string[]> =>
    (await runToEnd('git', args, repository, version.env)).stdout.toString().trimEnd().split('\n');
  return toJson({
    tree: await git('rev-parse', 'main^{tree}'),
    message: await git('log', '-1', '--format=%an%n%B', 'main'),
    refs: await git('for-each-ref', '--format=%(refname)'),
    status: await git('status', '--porcelain', '--ignored'),
  });
}
