import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseBundle } from '../../../attest/bundle/bundle.ts';
import { commands } from '../../../bin/command-table.ts';
import { remoteUri } from '../../../workspace/git/ref-name.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

t.test('the name of a remote contains no password and never a local path', async (t) => {
  for (const [locator, uri] of [
    ['https://example.org/a.git', 'git+https://example.org/a.git'],
    ['git+https://example.org/a.git', 'git+https://example.org/a.git'],
    ['https://token@example.org/a.git', 'git+https://example.org/a.git'],
    ['https://user:pass@example.org/a.git', 'git+https://example.org/a.git'],
    ['https://user:p@ss@example.org:8443/a', 'git+https://example.org:8443/a'],
    ['ssh://git@example.org/a.git', 'git+ssh://git@example.org/a.git'],
    ['ssh://git:secret@example.org/a.git', 'git+ssh://git@example.org/a.git'],
    ['git@example.org:team/a.git', 'git+ssh://git@example.org/team/a.git'],
    ['git@gitserver:team/a.git', 'git+ssh://git@gitserver/team/a.git'],
    ['example.org:a.git', 'git+ssh://example.org/a.git'],
    ['file:a.git', undefined],
    ['https://example.org/ä.git', undefined],
    ['/srv/git/a.git', undefined],
    ['../a', undefined],
    ['file:///srv/git/a.git', undefined],
    ['C:\\a', undefined],
    ['', undefined],
    ['a b', undefined],
  ] as const)
    t.equal(remoteUri(locator), uri, locator);
});

long('a summary of a spec that names a path names the remote, or else the first commit', async (t) => {
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const quick = {
    id: 'quick',
    kind: 'command',
    command: 'true',
    required: true,
    timeoutSeconds: 30,
    artifactsProduced: ['test-log'],
  };
  for (const [remote, stated] of [
    [undefined, undefined],
    ['/somewhere/else.git', undefined],
    ['https://me:token@example.org/sample.git', undefined],
    ['file:///somewhere/else.git', 'file:///somewhere/else.git'],
    ['https://example.org/sample.git', 'file:///somewhere/else.git'],
  ]) {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    if (remote !== undefined) sample.git('remote', 'add', 'origin', remote);
    const first = sample.git('rev-list', '--max-parents=0', 'HEAD');
    const view = await sample.run(
      { source: { kind: 'patch', bytes } },
      {
        metadata: {
          target: {
            repo: stated ? { type: 'git', locator: stated } : { type: 'local', locator: sample.root },
          },
        },
        acceptance: { verificationPlan: { fastChecks: [quick] } },
      },
    );
    const at = (path: string) =>
      JSON.parse(
        parseBundle(
          Buffer.from(sample.git('show', `refs/ai/runs/${view.runId}:${path}`)),
        ).envelope.payload.toString(),
      );
    const { resourceUri } = at('statements/vsa.sigstore.json').predicate;
    const expected = remote?.startsWith('https')
      ? 'git+https://example.org/sample.git'
      : `urn:writ:repository:${first}`;
    t.equal(resourceUri, expected);
    const [base] = at('provenance.sigstore.json').predicate.buildDefinition.resolvedDependencies;
    t.ok(base.uri.startsWith(`${expected}@`), base.uri);
    const verify = async (uri: string) =>
      (
        await runLine(['verify', 'HEAD', '--resource-uri', uri], commands, {
          cwd: sample.root,
          env: sample.env,
        })
      ).code;
    t.equal(await verify(expected), 0);
    t.equal(await verify('git+https://example.org/other.git'), 1);
  }
});
